#include "cli/sacctmgr/specs.hpp"

#include "core/lexical.hpp"
#include "core/quantity.hpp"
#include "core/timefmt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace spur::cli::sacctmgr {
namespace {

struct Alias {
    const char* typed;
    const char* key;
};
// In the order abbreviations are tried.
constexpr Alias aliases[] = {
    {"names", "names"},
    {"accounts", "accounts"},
    {"acct", "accounts"},
    {"users", "users"},
    {"clusters", "clusters"},
    {"partitions", "partitions"},
    {"parent", "parent"},
    {"description", "description"},
    {"organization", "organization"},
    {"fairshare", "fairshare"},
    {"shares", "fairshare"},
    {"priority", "priority"},
    {"qoslevel", "qos"},
    {"qos", "qos"},
    {"defaultqos", "defaultqos"},
    {"defaultaccount", "defaultaccount"},
    {"defacct", "defaultaccount"},
    {"defaultwckey", "defaultwckey"},
    {"adminlevel", "adminlevel"},
    {"rawusage", "rawusage"},
    {"comment", "comment"},
    {"grpjobs", "grpjobs"},
    {"grpjobsaccrue", "grpjobsaccrue"},
    {"grpsubmitjobs", "grpsubmitjobs"},
    {"grptres", "grptres"},
    {"grptresmins", "grptresmins"},
    {"grptresrunmins", "grptresrunmins"},
    {"grpwall", "grpwall"},
    {"grpcpus", "grpcpus"},
    {"grpcpumins", "grpcpumins"},
    {"grpcpurunmins", "grpcpurunmins"},
    {"grpmemory", "grpmem"},
    {"grpnodes", "grpnodes"},
    {"maxjobs", "maxjobs"},
    {"maxjobsperuser", "maxjobsperuser"},
    {"maxjobspu", "maxjobsperuser"},
    {"maxjobsperaccount", "maxjobsperaccount"},
    {"maxjobspa", "maxjobsperaccount"},
    {"maxjobsaccrue", "maxjobsaccrue"},
    {"maxjobsaccrueperuser", "maxjobsaccrue"},
    {"maxjobsaccruepu", "maxjobsaccrue"},
    {"maxjobsaccrueperaccount", "maxjobsaccrue"},
    {"maxjobsaccruepa", "maxjobsaccrue"},
    {"maxsubmitjobs", "maxsubmitjobs"},
    {"maxsubmitjobsperuser", "maxsubmitjobsperuser"},
    {"maxsubmitjobspu", "maxsubmitjobsperuser"},
    {"maxsubmitpu", "maxsubmitjobsperuser"},
    {"maxsubmitjobsperaccount", "maxsubmitjobsperaccount"},
    {"maxsubmitjobspa", "maxsubmitjobsperaccount"},
    {"maxsubmitpa", "maxsubmitjobsperaccount"},
    {"maxtres", "maxtresperjob"},
    {"maxtresperjob", "maxtresperjob"},
    {"maxtrespernode", "maxtrespernode"},
    {"maxtresmins", "maxtresminsperjob"},
    {"maxtresminsperjob", "maxtresminsperjob"},
    {"maxtresperuser", "maxtresperuser"},
    {"maxtrespu", "maxtresperuser"},
    {"maxtresperaccount", "maxtresperaccount"},
    {"maxtrespa", "maxtresperaccount"},
    {"maxwall", "maxwall"},
    {"maxwalldurationperjob", "maxwall"},
    {"maxcpus", "maxcpus"},
    {"maxcpusperjob", "maxcpus"},
    {"maxcpumins", "maxcpumins"},
    {"maxcpuminsperjob", "maxcpumins"},
    {"maxnodes", "maxnodes"},
    {"maxnodesperjob", "maxnodes"},
    {"mintresperjob", "mintresperjob"},
    {"mintres", "mintresperjob"},
    {"minpriothreshold", "minpriothreshold"},
    {"gracetime", "gracetime"},
    {"preempt", "preempt"},
    {"preemptmode", "preemptmode"},
    {"preemptexempttime", "preemptexempttime"},
    {"flags", "flags"},
    {"usagefactor", "usagefactor"},
    {"usagethreshold", "usagethreshold"},
    {"format", "format"},
    {"tree", "tree"},
    {"withassoc", "withassoc"},
    {"withcoordinators", "withcoordinators"},
    {"withsubaccounts", "withsubaccounts"},
    {"onlydefaults", "onlydefaults"},
    {"type", "type"},
};

std::string canonical(std::string_view typed) {
    const auto key = lower(typed);
    for (const auto& alias : aliases)
        if (key == alias.typed) return alias.key;
    if (key.size() >= 3)
        for (const auto& alias : aliases)
            if (std::string_view{alias.typed}.starts_with(key)) return alias.key;
    return key;
}

std::string unquoted(std::string_view text) {
    if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
        text = text.substr(1, text.size() - 2);
    return std::string{text};
}

Spec read_spec(const std::string& word) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
        const auto key = canonical(word);
        const bool is_flag = key == "tree" || key.starts_with("with") || key == "onlydefaults";
        return is_flag ? Spec{key, '=', {}, word} : Spec{"names", '=', unquoted(word), word};
    }
    auto end = equals;
    char operation = '=';
    if (end > 0 && (word[end - 1] == '+' || word[end - 1] == '-')) operation = word[--end];
    return {canonical(std::string_view{word}.substr(0, end)), operation, unquoted(word.substr(equals + 1)), word};
}

Refused invalid(std::string_view label, const Spec& spec) {
    return {fmt::format("error: Invalid value for {} ({})", label, spec.value)};
}

// A count, or -1 for none.
Taken<std::optional<std::uint32_t>> count_of(const Spec& spec, std::string_view label) {
    if (spec.value == "-1") return std::nullopt;
    const auto number = find_unsigned(spec.value);
    if (!number || *number >= 0xfffffffd) return std::unexpected(invalid(label, spec));
    return static_cast<std::uint32_t>(*number);
}

Taken<std::optional<std::uint32_t>> wall_of(const Spec& spec, std::string_view label) {
    if (spec.value == "-1") return std::nullopt;
    const auto minutes = parse_limit_min(spec.value);
    if (!minutes || *minutes == unlimited_min)
        return std::unexpected(Refused{fmt::format(" Bad {} time format: {}", label, spec.text)});
    return *minutes;
}

// Each resource with its new count; none: it is no longer limited.
using TresChange = std::vector<std::pair<std::string, std::optional<std::uint64_t>>>;
Taken<TresChange> tres_change(std::string_view text, const Book& book) {
    TresChange change;
    for (const auto part : split(text, ',')) {
        const auto equals = part.find('=');
        const auto name = lower(trim(part.substr(0, equals)));
        if (std::ranges::find(book.all.tres(), name) == book.all.tres().end())
            return std::unexpected(
                Refused{fmt::format("error: slurmdb_format_tres_str: no TRES known by type {}", name)});
        const auto value = equals == std::string_view::npos ? std::string_view{} : trim(part.substr(equals + 1));
        if (value == "-1") {
            change.emplace_back(name, std::nullopt);
            continue;
        }
        const auto mib = name == "mem" ? parse_mib(value) : Result<std::uint64_t>{0};
        const auto number = name == "mem" ? (mib ? std::optional{*mib} : std::nullopt) : find_scaled(value);
        if (!number) return std::unexpected(Refused{fmt::format("error: {} is no amount of {}", quoted(value), name)});
        change.emplace_back(name, *number);
    }
    return change;
}

void apply(const TresChange& change, google::protobuf::RepeatedPtrField<v1::TresCount>& wire) {
    auto list = tres_of(wire);
    for (const auto& [name, count] : change)
        if (count) list.set(name, *count);
    TresList kept;
    for (const auto& entry : list.entries()) {
        const auto cleared = [&](const auto& one) { return one.first == entry.name && !one.second; };
        if (std::ranges::none_of(change, cleared)) kept.set(entry.name, entry.count);
    }
    set_tres(wire, kept);
}

using LimitsChange = std::function<void(v1::AccountLimits&)>;
using Counts = google::protobuf::RepeatedPtrField<v1::TresCount>;

struct CountKey {
    const char *key, *label;
    void (*set)(v1::AccountLimits&, std::optional<std::uint32_t>);
    bool wall = false;
};
#define SPUR_COUNT(name)                                                \
    [](v1::AccountLimits& limits, std::optional<std::uint32_t> value) { \
        if (value)                                                      \
            limits.set_##name(*value);                                  \
        else                                                            \
            limits.clear_##name();                                      \
    }
constexpr CountKey count_keys[] = {
    {"grpjobs", "GrpJobs", SPUR_COUNT(grp_jobs)},
    {"grpsubmitjobs", "GrpSubmitJobs", SPUR_COUNT(grp_submit_jobs)},
    {"grpwall", "GrpWall", SPUR_COUNT(grp_wall_min), true},
    {"maxjobs", "MaxJobs", SPUR_COUNT(max_jobs)},
    {"maxsubmitjobs", "MaxSubmitJobs", SPUR_COUNT(max_submit_jobs)},
    {"maxwall", "MaxWall", SPUR_COUNT(max_wall_min), true},
};

struct TresKey {
    const char* key;
    const char* resource;  // for the old spellings that name it: grpcpus=4 is grptres=cpu=4
    Counts* (*of)(v1::AccountLimits&);
};
#define SPUR_COUNTS(name) [](v1::AccountLimits& limits) { return limits.mutable_##name(); }
constexpr TresKey tres_keys[] = {
    {"grptres", nullptr, SPUR_COUNTS(grp_tres)},
    {"grptresmins", nullptr, SPUR_COUNTS(grp_tres_mins)},
    {"grptresrunmins", nullptr, SPUR_COUNTS(grp_tres_run_mins)},
    {"maxtresperjob", nullptr, SPUR_COUNTS(max_tres_per_job)},
    {"maxtrespernode", nullptr, SPUR_COUNTS(max_tres_per_node)},
    {"maxtresminsperjob", nullptr, SPUR_COUNTS(max_tres_mins_per_job)},
    {"grpcpus", "cpu", SPUR_COUNTS(grp_tres)},
    {"grpnodes", "node", SPUR_COUNTS(grp_tres)},
    {"grpmem", "mem", SPUR_COUNTS(grp_tres)},
    {"grpcpumins", "cpu", SPUR_COUNTS(grp_tres_mins)},
    {"grpcpurunmins", "cpu", SPUR_COUNTS(grp_tres_run_mins)},
    {"maxcpus", "cpu", SPUR_COUNTS(max_tres_per_job)},
    {"maxnodes", "node", SPUR_COUNTS(max_tres_per_job)},
    {"maxcpumins", "cpu", SPUR_COUNTS(max_tres_mins_per_job)},
};

// Limits that associations and QOS have in common. An empty function: it is none of them.
Taken<LimitsChange> limits_change(const Spec& spec, const Book& book) {
    for (const auto& entry : count_keys)
        if (spec.key == entry.key) {
            const auto value = entry.wall ? wall_of(spec, entry.label) : count_of(spec, entry.label);
            if (!value) return std::unexpected(value.error());
            return LimitsChange{[set = entry.set, number = *value](v1::AccountLimits& limits) { set(limits, number); }};
        }
    for (const auto& entry : tres_keys)
        if (spec.key == entry.key) {
            const auto text = entry.resource ? fmt::format("{}={}", entry.resource, spec.value) : spec.value;
            auto change = tres_change(text, book);
            if (!change) return std::unexpected(change.error());
            return LimitsChange{
                [of = entry.of, change = *change](v1::AccountLimits& limits) { apply(change, *of(limits)); }};
        }
    for (const auto* key : {"grpjobsaccrue", "maxjobsaccrue", "minpriothreshold"})
        if (spec.key == key)
            return std::unexpected(
                Refused{fmt::format("error: {} is not a limit this cluster knows; leave it out", key)});
    return LimitsChange{};
}

Taken<Names> known_qos(const Spec& spec, const Book& book) {
    Names valid;
    for (const auto& qos : book.all.qos()) valid.push_back(qos.name());
    for (const auto& name : spec.list())
        if (!is_in(valid, name))
            return std::unexpected(
                Refused{fmt::format("error: You gave a bad qos '{}'. Valid QOS's are {}", name, joined(valid))});
    return spec.list();
}

constexpr std::pair<std::uint32_t, const char*> flag_names[] = {
    {qos_flag::deny_on_limit, "DenyOnLimit"},
    {qos_flag::over_part_qos, "OverPartQOS"},
    {qos_flag::require_reservation, "RequiresReservation"},
    {qos_flag::no_decay, "NoDecay"},
};

Taken<std::uint32_t> flags_of(const Spec& spec) {
    std::uint32_t flags = 0;
    for (const auto& name : spec.list()) {
        const auto found = std::ranges::find_if(flag_names, [&](const auto& entry) {
            return equal_nocase(entry.second, name) || (name == "requirereservation" && entry.second[0] == 'R');
        });
        if (found == std::end(flag_names))
            return std::unexpected(Refused{fmt::format(
                "error: the QOS flag {} is not known here; there are DenyOnLimit, OverPartQOS, RequiresReservation and "
                "NoDecay",
                quoted(name))});
        flags |= found->first;
    }
    return flags;
}

}  // namespace

Names Spec::list() const {
    Names names;
    for (const auto item : split(value, ','))
        if (!trim(item).empty()) names.push_back(lower(trim(item)));
    return names;
}

Sentence read_sentence(std::span<const std::string> words) {
    Sentence sentence;
    bool setting = false;
    for (const auto& word : words) {
        if (equal_nocase(word, "set")) {
            setting = sentence.has_set = true;
        } else if (equal_nocase(word, "where")) {
            setting = false;
        } else {
            (setting ? sentence.settings : sentence.conditions).push_back(read_spec(word));
        }
    }
    return sentence;
}

Taken<AssociationChange> association_change(const Spec& spec, const Book& book) {
    auto limits = limits_change(spec, book);
    if (!limits) return std::unexpected(limits.error());
    if (*limits)
        return AssociationChange{[change = *limits](v1::Association& entry) { change(*entry.mutable_limits()); }};
    if (spec.key == "fairshare") {
        const bool of_parent = equal_nocase(spec.value, "parent");
        const auto number = of_parent ? Taken<std::optional<std::uint32_t>>{1U} : count_of(spec, "FairShare");
        if (!number) return std::unexpected(number.error());
        return AssociationChange{[of_parent, shares = number->value_or(1)](v1::Association& entry) {
            entry.set_shares(shares);
            entry.set_shares_parent(of_parent);
        }};
    }
    if (spec.key == "priority") {
        const auto number = count_of(spec, "Priority");
        if (!number) return std::unexpected(number.error());
        return AssociationChange{
            [number = number->value_or(0)](v1::Association& entry) { entry.set_priority(number); }};
    }
    if (spec.key == "qos") {
        const auto names = known_qos(spec, book);
        if (!names) return std::unexpected(names.error());
        return AssociationChange{[operation = spec.operation, names = *names, &book](v1::Association& entry) {
            auto now = operation == '=' ? Names{} : book.qos_of(entry);
            for (const auto& name : names) {
                std::erase(now, name);
                if (operation != '-') now.push_back(name);
            }
            std::ranges::sort(now);
            entry.clear_qos();
            for (const auto& name : now) entry.add_qos(name);
        }};
    }
    if (spec.key == "defaultqos") {
        if (spec.value == "-1") return AssociationChange{[](v1::Association& entry) { entry.clear_default_qos(); }};
        const auto names = known_qos(spec, book);
        if (!names || names->size() != 1) return std::unexpected(names ? Refused{} : names.error());
        return AssociationChange{[name = names->front()](v1::Association& entry) { entry.set_default_qos(name); }};
    }
    if (spec.key == "comment")
        return AssociationChange{[text = spec.value](v1::Association& entry) { entry.set_comment(text); }};
    return std::unexpected(Refused{});
}

Taken<QosChange> qos_change(const Spec& spec, const Book& book) {
    auto as_limit = spec;  // MaxJobs and MaxSubmitJobs of a QOS are per user
    if (spec.key == "maxjobsperuser") as_limit.key = "maxjobs";
    if (spec.key == "maxsubmitjobsperuser") as_limit.key = "maxsubmitjobs";
    auto limits = limits_change(as_limit, book);
    if (!limits) return std::unexpected(limits.error());
    if (*limits) return QosChange{[change = *limits](v1::Qos& qos) { change(*qos.mutable_limits()); }};

    const auto tres = [&](auto of) -> Taken<QosChange> {
        auto change = tres_change(spec.value, book);
        if (!change) return std::unexpected(change.error());
        return QosChange{[of, change = *change](v1::Qos& qos) { apply(change, *of(qos)); }};
    };
    if (spec.key == "maxtresperuser") return tres([](v1::Qos& qos) { return qos.mutable_max_tres_per_user(); });
    if (spec.key == "maxtresperaccount") return tres([](v1::Qos& qos) { return qos.mutable_max_tres_per_account(); });
    if (spec.key == "mintresperjob") return tres([](v1::Qos& qos) { return qos.mutable_min_tres_per_job(); });

    const auto count = [&](std::string_view label, auto set) -> Taken<QosChange> {
        const auto number = count_of(spec, label);
        if (!number) return std::unexpected(number.error());
        return QosChange{[set, number = *number](v1::Qos& qos) { set(qos, number); }};
    };
    using Number = std::optional<std::uint32_t>;
    if (spec.key == "priority")
        return count("Priority", [](v1::Qos& qos, Number n) { qos.set_priority(n.value_or(0)); });
    if (spec.key == "gracetime")
        return count("GraceTime", [](v1::Qos& qos, Number n) { qos.set_grace_time_s(n.value_or(0)); });
    if (spec.key == "maxjobsperaccount")
        return count("MaxJobsPerAccount", [](v1::Qos& qos, Number n) {
            n ? qos.set_max_jobs_per_account(*n) : qos.clear_max_jobs_per_account();
        });
    if (spec.key == "maxsubmitjobsperaccount")
        return count("MaxSubmitJobsPerAccount", [](v1::Qos& qos, Number n) {
            n ? qos.set_max_submit_jobs_per_account(*n) : qos.clear_max_submit_jobs_per_account();
        });
    if (spec.key == "description") return QosChange{[text = spec.value](v1::Qos& qos) { qos.set_description(text); }};
    if (spec.key == "usagefactor") {
        char* end = nullptr;
        const double factor = std::strtod(spec.value.c_str(), &end);
        if (*end != '\0' || spec.value.empty() || !(factor >= 0 && factor < 1e9))
            return std::unexpected(invalid("UsageFactor", spec));
        return QosChange{[factor](v1::Qos& qos) { qos.set_usage_factor(factor); }};
    }
    if (spec.key == "preemptexempttime") {
        const auto seconds = spec.value == "-1" ? Result<std::int64_t>{-1} : parse_duration_s(spec.value);
        if (!seconds) return std::unexpected(invalid("PreemptExemptTime", spec));
        return QosChange{[seconds = *seconds](v1::Qos& qos) {
            if (seconds < 0)
                qos.clear_preempt_exempt_time_s();
            else
                qos.set_preempt_exempt_time_s(static_cast<std::uint32_t>(seconds));
        }};
    }
    if (spec.key == "preemptmode") {
        const auto mode = lower(spec.value);
        if (!is_in({"cluster", "off", "cancel", "requeue", "suspend", "gang"}, mode))
            return std::unexpected(invalid("PreemptMode", spec));
        return QosChange{[mode](v1::Qos& qos) { qos.set_preempt_mode(mode); }};
    }
    if (spec.key == "preempt") {
        const auto names = spec.value.empty() || spec.value == "-1" ? Taken<Names>{Names{}} : known_qos(spec, book);
        if (!names) return std::unexpected(names.error());
        return QosChange{[operation = spec.operation, names = *names](v1::Qos& qos) {
            Names now = operation == '=' ? Names{} : Names{qos.preempt().begin(), qos.preempt().end()};
            for (const auto& name : names) {
                std::erase(now, name);
                if (operation != '-') now.push_back(name);
            }
            qos.clear_preempt();
            for (const auto& name : now) qos.add_preempt(name);
        }};
    }
    if (spec.key == "flags") {
        const auto flags = spec.value == "-1" ? Taken<std::uint32_t>{0} : flags_of(spec);
        if (!flags) return std::unexpected(flags.error());
        return QosChange{[operation = spec.operation, flags = *flags](v1::Qos& qos) {
            qos.set_flags(operation == '=' ? flags : operation == '+' ? qos.flags() | flags : qos.flags() & ~flags);
        }};
    }
    if (spec.key == "usagethreshold")
        return std::unexpected(Refused{"error: UsageThreshold is not a limit this cluster knows; leave it out"});
    return std::unexpected(Refused{});
}

bool is_inherited(const Spec& spec) {
    return spec.key.starts_with("max") || spec.key == "qos" || spec.key == "defaultqos";
}

// ---- texts ---------------------------------------------------------------------------------------------------------

std::string wall_text(std::uint32_t minutes) { return print_long_limit(minutes); }
std::string tres_text(const Counts& wire) { return tres_of(wire).str(); }

std::string flags_text(std::uint32_t flags) {
    Names names;
    for (const auto& [flag, name] : flag_names)
        if (flags & flag) names.emplace_back(name);
    return joined(names);
}

std::optional<v1::AccountUser::AdminLevel> find_admin_level(std::string_view text) {
    const auto word = lower(text);
    if (word.empty()) return std::nullopt;
    for (const auto level : {v1::AccountUser::NONE, v1::AccountUser::OPERATOR, v1::AccountUser::ADMINISTRATOR})
        if (lower(admin_level_text(level)).starts_with(word)) return level;
    return std::nullopt;
}

std::string admin_level_text(v1::AccountUser::AdminLevel level) {
    if (level == v1::AccountUser::ADMINISTRATOR) return "Administrator";
    return level == v1::AccountUser::OPERATOR ? "Operator" : "None";
}

std::string joined(const Names& names) { return fmt::format("{}", fmt::join(names, ",")); }
bool is_in(const Names& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

namespace {

struct Lines {
    std::string text;
    std::size_t width;
    template <class T>
    void put(bool given, std::string_view label, const T& value) {
        if (given) text += fmt::format("  {:<{}}= {}\n", label, width, value);
    }
};

}  // namespace

std::string settings_text(const v1::Association& entry, bool with_parent) {
    Lines lines{{}, 14};
    const auto& limits = entry.limits();
    const auto wall = [](bool given, std::uint32_t minutes) { return given ? wall_text(minutes) : std::string{}; };
    lines.put(entry.shares_parent(), "Fairshare", "parent");
    lines.put(!entry.shares_parent() && entry.shares() != 1, "Fairshare", entry.shares());
    lines.put(limits.has_grp_jobs(), "GrpJobs", limits.grp_jobs());
    lines.put(limits.has_grp_submit_jobs(), "GrpSubmitJobs", limits.grp_submit_jobs());
    lines.put(!limits.grp_tres().empty(), "GrpTRES", tres_text(limits.grp_tres()));
    lines.put(!limits.grp_tres_mins().empty(), "GrpTRESMins", tres_text(limits.grp_tres_mins()));
    lines.put(!limits.grp_tres_run_mins().empty(), "GrpTRESRunMins", tres_text(limits.grp_tres_run_mins()));
    lines.put(limits.has_grp_wall_min(), "GrpWall", wall(limits.has_grp_wall_min(), limits.grp_wall_min()));
    lines.put(limits.has_max_jobs(), "MaxJobs", limits.max_jobs());
    lines.put(limits.has_max_submit_jobs(), "MaxSubmitJobs", limits.max_submit_jobs());
    lines.put(!limits.max_tres_per_job().empty(), "MaxTRES", tres_text(limits.max_tres_per_job()));
    lines.put(!limits.max_tres_per_node().empty(), "MaxTRESPerNode", tres_text(limits.max_tres_per_node()));
    lines.put(!limits.max_tres_mins_per_job().empty(), "MaxTRESMins", tres_text(limits.max_tres_mins_per_job()));
    lines.put(limits.has_max_wall_min(), "MaxWall", wall(limits.has_max_wall_min(), limits.max_wall_min()));
    lines.put(with_parent, "Parent", entry.parent_account());
    lines.put(entry.priority() != 0, "Priority", entry.priority());
    lines.put(!entry.qos().empty(), "QOS", joined({entry.qos().begin(), entry.qos().end()}));
    lines.put(!entry.default_qos().empty(), "DefQOS", entry.default_qos());
    return lines.text;
}

std::string settings_text(const v1::Qos& qos) {
    Lines lines{fmt::format("  Description    = {}\n", qos.description()), 25};
    const auto& limits = qos.limits();
    lines.put(qos.flags() != 0, "Flags", flags_text(qos.flags()));
    lines.put(qos.grace_time_s() != 0, "GraceTime", qos.grace_time_s());
    lines.put(limits.has_grp_jobs(), "GrpJobs", limits.grp_jobs());
    lines.put(limits.has_grp_submit_jobs(), "GrpSubmitJobs", limits.grp_submit_jobs());
    lines.put(!limits.grp_tres().empty(), "GrpTRES", tres_text(limits.grp_tres()));
    lines.put(!limits.grp_tres_mins().empty(), "GrpTRESMins", tres_text(limits.grp_tres_mins()));
    lines.put(!limits.grp_tres_run_mins().empty(), "GrpTRESRunMins", tres_text(limits.grp_tres_run_mins()));
    lines.put(limits.has_grp_wall_min(), "GrpWall", wall_text(limits.grp_wall_min()));
    lines.put(qos.has_max_jobs_per_account(), "MaxJobsPerAccount", qos.max_jobs_per_account());
    if (limits.has_max_jobs()) lines.text += fmt::format("  MaxJobsPerUser = {}\n", limits.max_jobs());
    lines.put(qos.has_max_submit_jobs_per_account(), "MaxSubmitJobsPerAccount", qos.max_submit_jobs_per_account());
    lines.put(limits.has_max_submit_jobs(), "MaxSubmitJobsPerUser", limits.max_submit_jobs());
    lines.put(!qos.max_tres_per_account().empty(), "MaxTRESPerAccount", tres_text(qos.max_tres_per_account()));
    lines.put(!limits.max_tres_per_job().empty(), "MaxTRESPerJob", tres_text(limits.max_tres_per_job()));
    lines.put(!limits.max_tres_per_node().empty(), "MaxTRESPerNode", tres_text(limits.max_tres_per_node()));
    lines.put(!qos.max_tres_per_user().empty(), "MaxTRESPerUser", tres_text(qos.max_tres_per_user()));
    lines.put(!qos.min_tres_per_job().empty(), "MinTRESPerJob", tres_text(qos.min_tres_per_job()));
    lines.put(!limits.max_tres_mins_per_job().empty(), "MaxTRESMins", tres_text(limits.max_tres_mins_per_job()));
    lines.put(limits.has_max_wall_min(), "MaxWall", wall_text(limits.max_wall_min()));
    lines.put(!qos.preempt().empty(), "Preempt", joined({qos.preempt().begin(), qos.preempt().end()}));
    const auto mode = qos.preempt_mode();
    std::string upper;
    for (const auto letter : mode) upper += static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 32 : letter);
    lines.put(!mode.empty() && mode != "cluster", "PreemptMode", upper);
    lines.put(qos.has_preempt_exempt_time_s(), "PreemptExemptTime", print_long_duration(qos.preempt_exempt_time_s()));
    lines.put(qos.priority() != 0, "Priority", qos.priority());
    lines.put(qos.usage_factor() != 1, "UsageFactor", fmt::format("{:.4f}", qos.usage_factor()));
    return lines.text;
}

}  // namespace spur::cli::sacctmgr

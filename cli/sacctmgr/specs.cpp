// Reading key=value words of sacctmgr: names, counts, times, TRES lists, flags, and what to say of wrong ones.
#include "cli/sacctmgr/specs.hpp"

#include "core/text/lexical.hpp"
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"

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
    {"maxjobsaccrueperaccount", "maxjobsaccrueperaccount"},
    {"maxjobsaccruepa", "maxjobsaccrueperaccount"},
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
    {"limitfactor", "limitfactor"},
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
    if (!minutes || *minutes == unlimited)
        return std::unexpected(Refused{fmt::format(" Bad {} time format: {}", label, spec.text)});
    return *minutes;
}

// Each resource with its new count; none: it is no longer limited.
using TresChange = std::vector<std::pair<std::string, std::optional<std::uint64_t>>>;
Taken<TresChange> tres_change(std::string_view text, const AccountsDraft& draft) {
    TresChange change;
    for (const auto part : split(text, ',')) {
        const auto equals = part.find('=');
        const auto name = lower(trim(part.substr(0, equals)));
        if (std::ranges::find(draft.all.tres(), name) == draft.all.tres().end())
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
    {"grpjobsaccrue", "GrpJobsAccrue", SPUR_COUNT(grp_jobs_accrue)},
    {"grpsubmitjobs", "GrpSubmitJobs", SPUR_COUNT(grp_submit_jobs)},
    {"grpwall", "GrpWall", SPUR_COUNT(grp_wall_min), true},
    {"maxjobs", "MaxJobs", SPUR_COUNT(max_jobs)},
    {"maxjobsaccrue", "MaxJobsAccrue", SPUR_COUNT(max_jobs_accrue)},
    {"maxsubmitjobs", "MaxSubmitJobs", SPUR_COUNT(max_submit_jobs)},
    {"minpriothreshold", "MinPrioThreshold", SPUR_COUNT(min_prio_threshold)},
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
Taken<LimitsChange> limits_change(const Spec& spec, const AccountsDraft& draft) {
    for (const auto& entry : count_keys)
        if (spec.key == entry.key) {
            const auto value = entry.wall ? wall_of(spec, entry.label) : count_of(spec, entry.label);
            if (!value) return std::unexpected(value.error());
            return LimitsChange{[set = entry.set, number = *value](v1::AccountLimits& limits) { set(limits, number); }};
        }
    for (const auto& entry : tres_keys)
        if (spec.key == entry.key) {
            const auto text = entry.resource ? fmt::format("{}={}", entry.resource, spec.value) : spec.value;
            auto change = tres_change(text, draft);
            if (!change) return std::unexpected(change.error());
            return LimitsChange{
                [of = entry.of, change = *change](v1::AccountLimits& limits) { apply(change, *of(limits)); }};
        }
    return LimitsChange{};
}

Taken<Names> known_qos(const Spec& spec, const AccountsDraft& draft) {
    Names valid;
    for (const auto& qos : draft.all.qos()) valid.push_back(qos.name());
    for (const auto& name : spec.list())
        if (!is_in(valid, name))
            return std::unexpected(
                Refused{fmt::format("error: You gave a bad qos '{}'. Valid QOS's are {}", name, joined(valid))});
    return spec.list();
}

Taken<std::uint32_t> flags_of(const Spec& spec) {
    std::uint32_t flags = 0;
    for (const auto& name : spec.list()) {
        const auto flag = find_flag(name);
        if (!flag)
            return std::unexpected(Refused{fmt::format("error: the QOS flag {} is not known here; there are {}",
                                                       quoted(name), flags_text(~std::uint32_t{0}))});
        flags |= *flag;
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

Taken<AssociationChange> association_change(const Spec& spec, const AccountsDraft& draft) {
    auto limits = limits_change(spec, draft);
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
        const auto names = known_qos(spec, draft);
        if (!names) return std::unexpected(names.error());
        return AssociationChange{[operation = spec.operation, names = *names, &draft](v1::Association& entry) {
            auto now = operation == '=' ? Names{} : draft.qos_of(entry);
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
        const auto names = known_qos(spec, draft);
        if (!names || names->size() != 1) return std::unexpected(names ? Refused{} : names.error());
        return AssociationChange{[name = names->front()](v1::Association& entry) { entry.set_default_qos(name); }};
    }
    if (spec.key == "comment")
        return AssociationChange{[text = spec.value](v1::Association& entry) { entry.set_comment(text); }};
    return std::unexpected(Refused{});
}

Taken<QosChange> qos_change(const Spec& spec, const AccountsDraft& draft) {
    auto as_limit = spec;  // MaxJobs and MaxSubmitJobs of a QOS are per user
    if (spec.key == "maxjobsperuser") as_limit.key = "maxjobs";
    if (spec.key == "maxsubmitjobsperuser") as_limit.key = "maxsubmitjobs";
    auto limits = limits_change(as_limit, draft);
    if (!limits) return std::unexpected(limits.error());
    if (*limits) return QosChange{[change = *limits](v1::Qos& qos) { change(*qos.mutable_limits()); }};

    const auto tres = [&](auto of) -> Taken<QosChange> {
        auto change = tres_change(spec.value, draft);
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
    if (spec.key == "maxjobsaccrueperaccount")
        return count("MaxJobsAccruePerAccount", [](v1::Qos& qos, Number n) {
            n ? qos.set_max_jobs_accrue_per_account(*n) : qos.clear_max_jobs_accrue_per_account();
        });
    if (spec.key == "maxsubmitjobsperaccount")
        return count("MaxSubmitJobsPerAccount", [](v1::Qos& qos, Number n) {
            n ? qos.set_max_submit_jobs_per_account(*n) : qos.clear_max_submit_jobs_per_account();
        });
    if (spec.key == "description") return QosChange{[text = spec.value](v1::Qos& qos) { qos.set_description(text); }};
    const auto real = [&](std::string_view label, auto set) -> Taken<QosChange> {
        if (spec.value == "-1") return QosChange{[set](v1::Qos& qos) { set(qos, std::nullopt); }};
        char* end = nullptr;
        const double value = std::strtod(spec.value.c_str(), &end);
        if (*end != '\0' || spec.value.empty() || !(value >= 0 && value < 1e9))
            return std::unexpected(invalid(label, spec));
        return QosChange{[set, value](v1::Qos& qos) { set(qos, value); }};
    };
    using Real = std::optional<double>;
    if (spec.key == "usagefactor")
        return real("UsageFactor", [](v1::Qos& qos, Real value) { qos.set_usage_factor(value.value_or(1)); });
    if (spec.key == "limitfactor")
        return real("LimitFactor",
                    [](v1::Qos& qos, Real value) { value ? qos.set_limit_factor(*value) : qos.clear_limit_factor(); });
    if (spec.key == "usagethreshold")
        return real("UsageThreshold", [](v1::Qos& qos, Real value) {
            value ? qos.set_usage_threshold(*value) : qos.clear_usage_threshold();
        });
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
        const auto mode = find_preempt_mode(spec.value);
        if (!mode) return std::unexpected(invalid("PreemptMode", spec));
        return QosChange{[mode](v1::Qos& qos) { qos.set_preempt_mode(lower(to_string(*mode))); }};
    }
    if (spec.key == "preempt") {
        const auto names = spec.value.empty() || spec.value == "-1" ? Taken<Names>{Names{}} : known_qos(spec, draft);
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
    return std::unexpected(Refused{});
}

bool is_inherited(const Spec& spec) {
    return spec.key.starts_with("max") || spec.key == "qos" || spec.key == "defaultqos";
}

}  // namespace spur::cli::sacctmgr

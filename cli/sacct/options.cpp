// The options, one row each.
#include "cli/sacct/options.hpp"

#include "cli/common/output.hpp"
#include "core/model/array_spec.hpp"
#include "core/model/job.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>

namespace spur::cli::sacct {
namespace {

using Set = Result<void>;
using O = Options;

constexpr const char* brief = "jobid,state,exitcode";
constexpr const char* usual = "jobid,jobname,partition,account,alloccpus,state,exitcode";
constexpr const char* long_list =
    "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,"
    "averss,"
    "maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,alloccpus,elapsed,state,"
    "exitcode,"
    "avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,reqmem,consumedenergy,maxdiskread,maxdiskreadnode,"
    "maxdiskreadtask,"
    "avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,avediskwrite,reqtres,alloctres,tresusageinave,"
    "tresusageinmax,"
    "tresusageinmaxn,tresusageinmaxt,tresusageinmin,tresusageinminn,tresusageinmint,tresusageintot,tresusageoutmax,"
    "tresusageoutmaxn,tresusageoutmaxt,tresusageoutave,tresusageouttot";

template <class... Args>
std::unexpected<Error> fatal(O& options, fmt::format_string<Args...> text, Args&&... args) {
    options.is_fatal = true;
    return fail(ErrorCode::invalid, text, std::forward<Args>(args)...);
}

template <auto Member>
Set words(O& options, const char* value) {
    for (const auto word : split(value, ','))
        if (!trim(word).empty()) (options.*Member).emplace_back(trim(word));
    return {};
}
// Names of accounts, QOS and the like are kept in lower case.
template <auto Member>
Set lower_words(O& options, const char* value) {
    return words<Member>(options, lower(value).c_str());
}
template <auto Member>
Set text(O& options, const char* value) {
    options.*Member = value;
    return {};
}
template <auto Member>
Set time_of(O& options, const char* value) {
    if (*value != '\0') options.*Member = value;
    return {};
}
template <auto Member>
Set yes(O& options, const char*) {
    options.*Member = true;
    return {};
}
template <Show What>
Set show(O& options, const char*) {
    if (options.show != Show::table && options.show != What && options.show != Show::json && What != Show::json)
        return fatal(options, "Options --batch-script and --env-vars are mutually exclusive");
    options.show = What;
    return {};
}

// "12,13_4,13_[5-7],14.batch,15+1": commas inside brackets do not separate.
Set jobs(O& options, const char* value) {
    for (const auto part : split_outside_brackets(value, ',')) {
        const auto word = trim(part);
        if (word.empty()) continue;
        const auto number_end = word.find_first_not_of("0123456789");
        if (number_end == 0) return fatal(options, "Bad job/step specified: {}", word);
        const auto ref = JobRef::parse(word);
        if (!ref) {
            const auto mark = number_end == std::string_view::npos ? '\0' : word[number_end];
            return fatal(options, "Bad {} specified: {}",
                         mark == '_'   ? "job array element"
                         : mark == '+' ? "hetjob offset"
                         : mark == '.' ? "step"
                                       : "job/step",
                         mark == '\0' ? word : word.substr(0, number_end));
        }
        if (ref->job != 0) options.jobs.push_back(ref->str());
    }
    return {};
}

Set states(O& options, const char* value) {
    for (const auto part : split(value, ',')) {
        const auto word = trim(part);
        if (word.empty()) continue;
        const auto name = lower(word);
        if (name == "requeued" || name == "rq")
            options.states.emplace_back("REQUEUED");
        else if (name == "resizing" || name == "rs")  // nobody is, and nobody was: a job that is resized goes on
            options.states.emplace_back("RESIZING");
        else if (name == "revoked" || name == "rv")
            options.states.emplace_back("REVOKED");
        else if (name == "cg" || name == "completing" || name == "cf" || name == "configuring" || name == "so" ||
                 name == "stage_out" || name == "si" || name == "signaling" || name == "se" || name == "special_exit")
            return fatal(options, "job state {} is not supported / accounted", word);
        else if (const auto state = find_job_state(word))
            options.states.emplace_back(to_string(*state));
        else
            return fatal(options, "unrecognized job state value '{}'", word);
    }
    return {};
}

// "3", "2-4".
Set read_range(std::optional<Range>& range, std::string_view value, std::string_view what) {
    const auto dash = value.find('-');
    const auto least = find_unsigned(value.substr(0, dash));
    const auto most = dash == std::string_view::npos ? least : find_unsigned(value.substr(dash + 1));
    if (!least || !most || *least > UINT32_MAX || *most > UINT32_MAX)
        return fail(ErrorCode::invalid, "Invalid numeric value \"{}\" for requested {} range.", value, what);
    range = Range{static_cast<std::uint32_t>(*least), static_cast<std::uint32_t>(*most)};
    return {};
}

template <auto Member>
Set limit(O& options, const char* value) {
    const auto minutes = parse_limit_min(value);
    if (!minutes) return fatal(options, "Invalid time limit specification");
    options.*Member = *minutes;
    return {};
}

// Said more than once, all of it.
Set format(O& options, const char* value) {
    options.has_format = true;
    options.format += value;
    options.format += ',';
    return {};
}

Set units(O& options, const char* value) {
    constexpr std::string_view letters = "KMGTP";
    const std::string_view given{value};
    const char letter = given.size() == 1 && is_alpha(given[0]) ? static_cast<char>(given[0] & ~0x20) : '\0';
    if (letters.find(letter) == std::string_view::npos)
        return fail(ErrorCode::invalid, "Invalid unit type '{}'. Possible options are 'KMGTP'", given);
    options.units = letter;
    return {};
}

Set whole_het(O& options, const char* value) {
    const auto given = lower(value ? value : "yes");
    if (given != "yes" && given != "no")
        return fail(ErrorCode::invalid, "Invalid --whole-hetjob value \"{}\". Valid values: [yes|no].", value);
    options.whole_het = given == "yes";
    return {};
}

Set clusters(O& options, const char* value) {
    if (equal_nocase(value, "all")) options.all_clusters = true;
    return words<&O::clusters>(options, value);
}

constexpr OptionRow<O> table[] = {
    {"allusers", 'a', Argument::none, nullptr, "jobs of all users; for root this is the default", yes<&O::all_users>},
    {"accounts", 'A', Argument::required, "account[,...]", "only jobs of these accounts", lower_words<&O::accounts>},
    {"array", 0, Argument::none, nullptr, "a line for each task of an array that waits", yes<&O::expand_arrays>},
    {"brief", 'b', Argument::none, nullptr, "the same as --format=jobid,state,exitcode", yes<&O::is_brief>},
    {"batch-script", 'B', Argument::none, nullptr,
     "the scripts of the jobs that -j names; [accounting] store_flags must have job_script", show<Show::scripts>},
    {"completion", 'c', Argument::none, nullptr, "from the job completion plugin, which must be configured",
     yes<&O::completion>},
    {"constraints", 'C', Argument::required, "feature[,...]", "only jobs that asked for all of these",
     words<&O::constraints>},
    {"delimiter", 0, Argument::required, "characters", "what stands between fields with -p and -P",
     text<&O::delimiter>},
    {"duplicates", 'D', Argument::none, nullptr, "every run of a job that was requeued, not only the last",
     yes<&O::duplicates>},
    {"endtime", 'E', Argument::required, "end_time",
     "jobs that were eligible before this time; default now, or --starttime with -s", time_of<&O::end>},
    {"env-vars", 0, Argument::none, nullptr,
     "the environments of the batch jobs that -j names; [accounting] store_flags must have job_env",
     show<Show::environments>},
    {"federation", 0, Argument::none, nullptr, "jobs of the federation if this cluster is a member of one",
     [](O&, const char*) -> Set { return {}; }, "SACCT_FEDERATION"},  // none is
    {"file", 'f', Argument::required, "file", "a file of the job completion plugin; implies -c",
     [](O& o, const char* value) -> Set {
         struct stat found {};
         if (::stat(value, &found) != 0) return fail(ErrorCode::not_found, "{} is not a valid file", value);
         return o.completion = true, Set{};
     }},
    {"flags", 'F', Argument::required, nullptr, nullptr,
     [](O&, const char*) -> Set {
         return fail(ErrorCode::invalid, "--flags is not built: which part of the scheduler started a job is not kept");
     }},
    {"group", 'g', Argument::required, "group[,...]", "only jobs of these groups, by name or number",
     words<&O::groups>},
    {"gid", 0, Argument::required, nullptr, nullptr, words<&O::groups>},
    {"helpformat", 'e', Argument::none, nullptr, "list the fields of --format", yes<&O::help_format>},
    {"nnodes", 'i', Argument::required, "min[-max]", "only jobs that ran on so many nodes",
     [](O& o, const char* value) { return read_range(o.node_count, value, "node"); }},
    {"ncpus", 'I', Argument::required, "min[-max]", "only jobs that ran on so many CPUs",
     [](O& o, const char* value) { return read_range(o.cpu_count, value, "cpu"); }},
    {"jobs", 'j', Argument::required, "job[_task][+component][.step][,...]", "only these jobs or steps", jobs},
    {"json", 0, Argument::none, nullptr, "as JSON", show<Show::json>},
    {"yaml", 0, Argument::none, nullptr, nullptr,
     [](O&, const char*) -> Set { return fail(ErrorCode::invalid, "--yaml is not built: use --json"); }},
    {"timelimit-min", 'k', Argument::required, "time", "only jobs with this limit, or from this one on with -K",
     limit<&O::limit_min>},
    {"timelimit-max", 'K', Argument::required, "time", "and up to this limit", limit<&O::limit_max>},
    {"long", 'l', Argument::none, nullptr, "everything that was measured of jobs and steps", yes<&O::is_long>},
    {"local", 0, Argument::none, nullptr, "only jobs of this cluster, of no federation",
     [](O&, const char*) -> Set { return {}; }, "SACCT_LOCAL"},
    {"allclusters", 'L', Argument::none, nullptr, "jobs of all clusters that share this spurdbd",
     yes<&O::all_clusters>},
    {"clusters", 'M', Argument::required, "name[,...]", "jobs of these clusters; all: of every one", clusters,
     "SLURM_CLUSTERS"},
    {"cluster", 0, Argument::required, nullptr, nullptr, clusters},
    {"name", 0, Argument::required, "name[,...]", "only jobs of these names", words<&O::names>},
    {"noconvert", 0, Argument::none, nullptr, "show memory and sizes as they are stored",
     [](O& o, const char*) -> Set { return o.convert = false, Set{}; }},
    {"noheader", 'n', Argument::none, nullptr, "no header",
     [](O& o, const char*) -> Set { return o.header = false, Set{}; }},
    {"nodelist", 'N', Argument::required, "node[,...]", "only jobs that ran on one of these", text<&O::nodes>},
    {"format", 'o', Argument::required, "field[%width][,...]", "which fields, and how wide; -10 is to the left",
     format},
    {"parsable", 'p', Argument::none, nullptr, "fields with | behind each",
     [](O& o, const char*) -> Set { return o.style = TableStyle::bars, Set{}; }},
    {"parsable2", 'P', Argument::none, nullptr, "fields with | between them",
     [](O& o, const char*) -> Set { return o.style = TableStyle::bars_between, Set{}; }},
    {"qos", 'q', Argument::required, "qos[,...]", "only jobs of these QOS", lower_words<&O::qos>},
    {"partition", 'r', Argument::required, "partition[,...]", "only jobs of these partitions", words<&O::partitions>},
    {"reason", 'R', Argument::required, "reason[,...]", "only jobs that waited for one of these", words<&O::reasons>},
    {"reservation", 0, Argument::required, "name[,...]", "only jobs of these reservations", words<&O::reservations>},
    {"state", 's', Argument::required, "state[,...]",
     "only jobs that were in one of these states between --starttime and --endtime", states},
    {"starttime", 'S', Argument::required, "start_time",
     "jobs that were not over before this time; default midnight, now with -s, or any time with -j",
     time_of<&O::start>},
    {"truncate", 'T', Argument::none, nullptr, "count only the time between --starttime and --endtime",
     yes<&O::truncate>},
    {"units", 0, Argument::required, "K|M|G|T|P", "show memory and sizes in this unit", units},
    {"uid", 0, Argument::required, nullptr, nullptr, words<&O::users>},
    {"use-local-uid", 0, Argument::none, nullptr, "users' numbers as they are on this machine", yes<&O::local_uids>},
    {"user", 'u', Argument::required, "user[,...]", "only jobs of these users; default oneself, all for root",
     words<&O::users>},
    {"verbose", 'v', Argument::none, nullptr, "say which time is looked at",
     [](O& o, const char*) -> Set { return ++o.verbose, Set{}; }},
    {"wckeys", 'W', Argument::required, "wckey[,...]", "only jobs of these wckeys", words<&O::wckeys>},
    {"whole-hetjob", 0, Argument::optional, "yes|no", "every component of a heterogeneous job that -j names one of",
     whole_het},
    {"associations", 'x', Argument::required, "id[,...]", "only jobs of these associations", words<&O::associations>},
    {"allocations", 'X', Argument::none, nullptr, "only jobs, no steps", yes<&O::allocations>},
};

UnixSeconds midnight(UnixSeconds now) {
    const auto moment = static_cast<std::time_t>(now);
    std::tm local{};
    ::localtime_r(&moment, &local);
    local.tm_hour = local.tm_min = local.tm_sec = 0;
    local.tm_isdst = -1;
    return std::mktime(&local);
}

std::string long_date(UnixSeconds time) {
    if (time == 0) return "Epoch 0";
    auto text = date_line(time);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

}  // namespace

std::span<const OptionRow<Options>> option_table() { return table; }

Result<void> check(Options& options) {
    if (options.is_long && options.has_format)
        return fatal(options,
                     "Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and retry.");
    if (options.is_long) options.format = long_list;
    if (options.is_brief) options.format += brief;  // after what else is asked for
    if (options.format.empty())
        if (const char* given = std::getenv("SACCT_FORMAT")) options.format = given;
    if (options.format.empty() && !options.has_format) options.format = usual;
    if (options.jobs.empty() && (options.show == Show::scripts || options.show == Show::environments))
        return fatal(options, "When requesting {} you must also request specific jobs with the '-j' option.",
                     options.show == Show::scripts ? "job scripts" : "job environment");
    return {};
}

// As in sacct(1), "DEFAULT TIME WINDOW".
Result<Window> window_of(const Options& options, UnixSeconds now) {
    const bool has_jobs = !options.jobs.empty(), has_states = !options.states.empty();
    Window window;
    if (options.start) {
        SPUR_TRY(window.start, parse_past_time(*options.start, now));
    } else {
        window.start = has_jobs ? 0 : has_states ? now : midnight(now);
    }
    if (options.end) {
        SPUR_TRY(window.end, parse_past_time(*options.end, now));
    } else if (has_states && options.start) {
        window.end = window.start;
    } else {
        window.end = has_jobs && !has_states && !options.start ? 0 : now;
    }
    if (window.end != 0 && window.start > window.end)
        return fail(ErrorCode::invalid, "Start time ({}) requested is after end time ({}).", print_time(window.start),
                    print_time(window.end));
    return window;
}

std::string window_text(const Options& options, const Window& window, UnixSeconds now) {
    std::string what = options.states.empty() ? "Eligible" : "";
    for (const auto& state : options.states) what += (what.empty() ? "" : ",") + state;
    return fmt::format("Jobs {} in the time window from {} to {}", what, long_date(window.start),
                       long_date(window.end != 0 ? window.end : now));
}

}  // namespace spur::cli::sacct

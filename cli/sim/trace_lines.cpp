// Spur's own traces: one JSON object a line. docs/simulator.md lists the keys; `fields` below is that list.
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "cli/sim/trace.hpp"
#include "core/text/lexical.hpp"
#include "core/text/suggest.hpp"

namespace spur::cli::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t longest_s = 4'000'000'000;  // 130 years

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

template <class T>
struct Value {
    using type = T;
};
template <class T>
struct Value<std::optional<T>> {
    using type = T;
};

// f(key, member) for every key of a job but "submit" and "run" stand-ins; the order is that of printing.
template <class F>
void for_each_field(F&& f) {
    f("id", &TraceJob::id);
    f("submit", &TraceJob::submit_s);
    f("run", &TraceJob::run_s);
    f("task_runs", &TraceJob::task_runs);
    f("time", &TraceJob::limit_s);
    f("begin", &TraceJob::begin_s);
    f("fails", &TraceJob::fails);
    f("name", &TraceJob::name);
    f("user", &TraceJob::user);
    f("account", &TraceJob::account);
    f("qos", &TraceJob::qos);
    f("partition", &TraceJob::partition);
    f("nodes", &TraceJob::min_nodes);
    f("max_nodes", &TraceJob::max_nodes);
    f("ntasks", &TraceJob::tasks);
    f("ntasks_per_node", &TraceJob::tasks_per_node);
    f("cpus_per_task", &TraceJob::cpus_per_task);
    f("mem_mb", &TraceJob::mem_per_node_mib);
    f("mem_per_cpu_mb", &TraceJob::mem_per_cpu_mib);
    f("gres", &TraceJob::gres);
    f("gpus", &TraceJob::gres_per_job);
    f("constraint", &TraceJob::features);
    f("licenses", &TraceJob::licenses);
    f("nodelist", &TraceJob::node_list);
    f("reservation", &TraceJob::reservation);
    f("exclusive", &TraceJob::exclusive);
    f("array", &TraceJob::array);
    f("dependency", &TraceJob::dependency);
    f("nice", &TraceJob::nice);
    f("follows", &TraceJob::follows);
    f("think", &TraceJob::think_s);
}

std::vector<std::string> job_keys() {
    std::vector<std::string> keys;
    for_each_field([&](const char* key, auto) { keys.emplace_back(key); });
    return keys;
}

// "--gpus" counts devices of the job: 4, "4" and "a100:4" are all said with gres.
std::string gpus_of(const std::string& text) { return "gpu:" + text; }
std::string_view without_gpu(std::string_view gres) { return gres.starts_with("gpu:") ? gres.substr(4) : gres; }

class Reader {
public:
    explicit Reader(const std::string& source) { trace_.source = source; }

    Result<Trace> read(std::string_view text) {
        trace_.begins = default_beginning;
        while (!text.empty()) {
            ++line_;
            const auto end = std::min(text.find('\n'), text.size());
            const auto line = trim(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
            if (!line.empty() && line.front() != '#') SPUR_CHECK(read_line(line));
        }
        SPUR_CHECK(complete(trace_));
        return std::move(trace_);
    }

private:
    template <class... Args>
    std::unexpected<Error> refuse(fmt::format_string<Args...> text, Args&&... args) const {
        return fail(ErrorCode::invalid, "{}:{}: {}", trace_.source, line_,
                    fmt::format(text, std::forward<Args>(args)...));
    }

    Result<void> read_line(std::string_view line) {
        const auto object = Json::parse(line, nullptr, false);
        if (object.is_discarded() || !object.is_object())
            return refuse("this is no JSON object: {}", spur::quoted(line));
        if (object.contains("trace")) return read_head(object);
        if (object.contains("reserve")) return read_reservation(object);
        return read_job(object);
    }

    // {"trace": 1, "begins": 1767571200}
    Result<void> read_head(const Json& object) {
        if (object["trace"] != 1) return refuse("this Spur reads traces of version 1");
        for (const auto& [key, value] : object.items()) {
            if (key == "trace") continue;
            if (key != "begins")
                return refuse("\"begins\" is all that can be said beside \"trace\", not {}", spur::quoted(key));
            SPUR_CHECK(take(key, value, trace_.begins));
        }
        return {};
    }

    // {"reserve": "maintenance", "start": 3600, "end": 7200, "nodes": "n[1-4]"}
    Result<void> read_reservation(const Json& object) {
        TraceReservation out;
        for (const auto& [key, value] : object.items()) {
            if (key == "reserve")
                SPUR_CHECK(take(key, value, out.name));
            else if (key == "start")
                SPUR_CHECK(take(key, value, out.start_s));
            else if (key == "end")
                SPUR_CHECK(take(key, value, out.end_s));
            else if (key == "nodes")
                SPUR_CHECK(take(key, value, out.nodes));
            else if (key == "users")
                SPUR_CHECK(take(key, value, out.users));
            else if (key == "accounts")
                SPUR_CHECK(take(key, value, out.accounts));
            else
                return refuse("a reservation has no key {}; it has reserve, start, end, nodes, users, accounts",
                              spur::quoted(key));
        }
        if (out.name.empty() || out.nodes.empty()) return refuse("a reservation needs a name and nodes");
        if (out.end_s <= out.start_s) return refuse("a reservation must end after it starts");
        trace_.reservations.push_back(std::move(out));
        return {};
    }

    Result<void> read_job(const Json& object) {
        TraceJob job;
        bool has_run = false;
        for (const auto& [key, value] : object.items()) {
            Result<bool> taken = false;
            for_each_field([&](const char* name, auto member) {
                if (!taken || *taken || key != name) return;
                const auto done = take(key, value, job.*member);
                taken = done ? Result<bool>{true} : std::unexpected(done.error());
            });
            if (!taken) return std::unexpected(taken.error());
            if (!*taken)
                return refuse("a job has no key {}{}; docs/simulator.md lists them", spur::quoted(key),
                              suggestion(key, job_keys()));
            has_run = has_run || key == "run" || key == "task_runs";
        }
        if (!object.contains("submit"))
            return refuse("the job does not say when it was submitted: \"submit\" is missing");
        if (!has_run) return refuse("the job does not say how long it runs: \"run\" is missing");
        if (job.limit_s && *job.limit_s < 1) return refuse("\"time\" is 0: no job can run in that");
        if (!job.task_runs.empty() && job.array.empty())
            return refuse("\"task_runs\" is for arrays: \"array\" is missing");
        if (job.id.empty()) job.id = fmt::format("{}", line_);
        if (!job.gres_per_job.empty()) job.gres_per_job = gpus_of(job.gres_per_job);
        trace_.jobs.push_back(std::move(job));
        return {};
    }

    template <class T>
    Result<void> take(const std::string& key, const Json& value, T& out) const {
        if constexpr (is_optional<T>::value) {
            typename Value<T>::type inner{};
            SPUR_CHECK(take(key, value, inner));
            out = inner;
        } else if constexpr (std::is_same_v<T, bool>) {
            if (!value.is_boolean()) return refuse("\"{}\" must be true or false", key);
            out = value.template get<bool>();
        } else if constexpr (std::is_same_v<T, std::string>) {
            if (value.is_number_unsigned())
                out = fmt::format("{}", value.template get<std::uint64_t>());  // ids and counts of gpus are often bare
            else if (value.is_string())
                out = value.template get<std::string>();
            else
                return refuse("\"{}\" must be a text", key);
        } else if constexpr (std::is_integral_v<T>) {
            constexpr std::int64_t least = std::is_same_v<T, std::int32_t> ? std::numeric_limits<T>::min() : 0;
            constexpr std::int64_t most =
                sizeof(T) == 8 ? longest_s : static_cast<std::int64_t>(std::numeric_limits<T>::max());
            if (!value.is_number_integer()) return refuse("\"{}\" must be a whole number", key);
            const bool is_huge = value.is_number_unsigned() && value.template get<std::uint64_t>() > INT64_MAX;
            if (is_huge || value.template get<std::int64_t>() < least || value.template get<std::int64_t>() > most)
                return refuse("\"{}\" is {}; it must be from {} to {}", key, value.dump(), least, most);
            out = value.template get<T>();
        } else {
            if (!value.is_array()) return refuse("\"{}\" must be a list", key);
            for (const auto& item : value) SPUR_CHECK(take(key, item, out.emplace_back()));
        }
        return {};
    }

    Trace trace_;
    std::size_t line_{};
};

}  // namespace

Result<Trace> parse_trace_lines(std::string_view text, const std::string& source) { return Reader{source}.read(text); }

std::string print_trace_job(const TraceJob& job) {
    Json object = Json::object();
    static const TraceJob unsaid;
    for_each_field([&](const char* key, auto member) {
        const auto& value = job.*member;
        const bool always = std::string_view{key} == "submit" || std::string_view{key} == "run";
        if (!always && value == unsaid.*member) return;
        if constexpr (is_optional<std::remove_cvref_t<decltype(value)>>::value)
            object[key] = *value;
        else
            object[key] = value;
    });
    if (!job.gres_per_job.empty()) object["gpus"] = without_gpu(job.gres_per_job);
    return object.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string print_trace(const Trace& trace) {
    std::string text = fmt::format("{{\"trace\": 1, \"begins\": {}}}\n", trace.begins);
    for (const auto& one : trace.reservations) {
        Json object{{"reserve", one.name}, {"start", one.start_s}, {"end", one.end_s}, {"nodes", one.nodes}};
        if (!one.users.empty()) object["users"] = one.users;
        if (!one.accounts.empty()) object["accounts"] = one.accounts;
        text += object.dump() + '\n';
    }
    for (const auto& job : trace.jobs) text += print_trace_job(job);
    return text;
}

}  // namespace spur::cli::sim

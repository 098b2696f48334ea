// Standard Workload Format, version 2.2: comment lines open with ';', every other line has 18 numbers, -1 is "unknown".
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "cli/sim/trace.hpp"
#include "core/text/lexical.hpp"

namespace spur::cli::sim {
namespace {

enum Field : std::size_t {
    job_number,
    submit,
    wait,
    run_time,
    allocated_processors,
    cpu_time,
    used_memory,
    requested_processors,
    requested_time,
    requested_memory,
    status,
    user_id,
    group_id,
    executable,
    queue,
    partition,
    preceding_job,
    think_time,
    field_count,
};

constexpr std::array<const char*, field_count> field_names{"job number",
                                                           "submit time",
                                                           "wait time",
                                                           "run time",
                                                           "allocated processors",
                                                           "CPU time",
                                                           "memory",
                                                           "requested processors",
                                                           "requested time",
                                                           "requested memory",
                                                           "status",
                                                           "user",
                                                           "group",
                                                           "executable",
                                                           "queue",
                                                           "partition",
                                                           "preceding job",
                                                           "think time"};

constexpr double largest = 4e9;  // 130 years, or as many processors
constexpr int status_cancelled = 5;
constexpr int status_failed = 0;

using Fields = std::array<double, field_count>;

// One word after the other; empty at the end.
std::string_view next_word(std::string_view& rest) {
    constexpr std::string_view blanks = " \t\r";
    const auto first = rest.find_first_not_of(blanks);
    if (first == std::string_view::npos) return rest = {};
    const auto end = std::min(rest.find_first_of(blanks, first), rest.size());
    const auto word = rest.substr(first, end - first);
    rest.remove_prefix(end);
    return word;
}

class Reader {
public:
    explicit Reader(const std::string& source) {
        trace_.source = source;
        trace_.knows_partitions = false;
    }

    Result<Trace> read(std::string_view text) {
        while (!text.empty()) {
            ++line_;
            const auto end = std::min(text.find('\n'), text.size());
            auto line = text.substr(0, end);
            text.remove_prefix(std::min(end + 1, text.size()));
            const auto first = line.find_first_not_of(" \t\r");
            if (first == std::string_view::npos) continue;
            if (line[first] == ';')
                header(line.substr(first + 1));
            else
                SPUR_CHECK(job(line));
        }
        if (trace_.begins == 0) trace_.begins = default_beginning;
        remark(without_size_, "the number of processors is unknown");
        remark(without_time_, "the run time is unknown");
        remark(never_ran_, "cancelled before it ran");
        SPUR_CHECK(complete(trace_));
        return std::move(trace_);
    }

private:
    template <class... Args>
    std::unexpected<Error> refuse(fmt::format_string<Args...> text, Args&&... args) const {
        return fail(ErrorCode::invalid, "{}:{}: {}", trace_.source, line_,
                    fmt::format(text, std::forward<Args>(args)...));
    }

    void remark(std::size_t count, std::string_view why) {
        if (count != 0)
            trace_.remarks.push_back(fmt::format("{} job{} left out: {}", count, count == 1 ? "" : "s", why));
    }

    // "; UnixStartTime: 1087329600" and "; Queue: 3 batch". Others say nothing a simulation needs.
    void header(std::string_view text) {
        const auto colon = text.find(':');
        if (colon == std::string_view::npos) return;
        const auto label = trim(text.substr(0, colon));
        auto value = text.substr(colon + 1);
        if (label == "UnixStartTime") {
            const auto number = trim(value);
            std::int64_t begins = 0;
            const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), begins);
            if (error == std::errc{} && begins > 0 && begins < static_cast<std::int64_t>(largest))
                trace_.begins = begins;
        } else if (label == "Queue" || label == "Partition") {
            const auto number = std::string{next_word(value)};
            auto name = std::string{trim(value)};
            if (!number.empty() && !name.empty()) (label == "Queue" ? queues_ : partitions_)[number] = std::move(name);
        }
    }

    Result<Fields> fields(std::string_view line) const {
        Fields all{};
        std::size_t count = 0;
        for (auto word = next_word(line); !word.empty(); word = next_word(line), ++count) {
            if (count >= field_count) continue;
            const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), all[count]);
            if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(all[count]))
                return refuse("field {} ({}) is {}, which is no number", count + 1, field_names[count],
                              spur::quoted(word));
            if (all[count] < -1 || all[count] > largest)
                return refuse("field {} ({}) is {}; it must be -1 (unknown) or from 0 to {:.0f}", count + 1,
                              field_names[count], word, largest);
            if (all[count] != std::floor(all[count]) && count != cpu_time && count != used_memory &&
                count != requested_memory)
                return refuse("field {} ({}) is {}, which is no whole number", count + 1, field_names[count], word);
        }
        if (count != field_count) return refuse("{} fields; a job has {}", count, std::size_t{field_count});
        return all;
    }

    Result<void> job(std::string_view line) {
        SPUR_TRY(const auto all, fields(line));
        const auto number = [&](Field field) { return static_cast<std::int64_t>(all[field]); };
        if (all[job_number] < 0) return refuse("field 1 (job number) is {}: every job has one", number(job_number));
        if (all[submit] < 0) return refuse("field 2 (submit time) is {}: every job has one", number(submit));
        const auto processors = all[requested_processors] > 0 ? all[requested_processors] : all[allocated_processors];
        if (all[status] == status_cancelled && all[run_time] <= 0) return ++never_ran_, Result<void>{};
        if (all[run_time] < 0) return ++without_time_, Result<void>{};
        if (processors <= 0) return ++without_size_, Result<void>{};

        TraceJob job;
        job.id = fmt::format("{}", number(job_number));
        job.submit_s = number(submit);
        job.run_s = number(run_time);
        job.limit_s = all[requested_time] > 0 ? number(requested_time) : std::max<std::int64_t>(job.run_s, 60);
        job.fails = all[status] == status_failed;
        job.tasks = static_cast<std::uint32_t>(processors);
        if (all[requested_memory] > 0)
            job.mem_per_cpu_mib = static_cast<std::uint64_t>(std::ceil(all[requested_memory] / 1024));
        if (all[user_id] >= 0) job.user = fmt::format("user{}", number(user_id));
        if (all[group_id] >= 0) job.account = fmt::format("group{}", number(group_id));
        if (all[partition] >= 0) job.partition = find_name(partitions_, number(partition));
        if (job.partition.empty() && all[queue] >= 0) job.partition = find_name(queues_, number(queue));
        if (all[preceding_job] > 0) {
            job.follows = fmt::format("{}", number(preceding_job));
            job.think_s = std::max<std::int64_t>(number(think_time), 0);
        }
        trace_.jobs.push_back(std::move(job));
        return {};
    }

    static std::string find_name(const std::map<std::string, std::string>& names, std::int64_t number) {
        const auto found = names.find(fmt::format("{}", number));
        return found == names.end() ? std::string{} : found->second;
    }

    Trace trace_;
    std::size_t line_{};
    std::map<std::string, std::string> queues_, partitions_;  // by number
    std::size_t without_size_{}, without_time_{}, never_ran_{};
};

}  // namespace

Result<Trace> parse_swf(std::string_view text, const std::string& source) { return Reader{source}.read(text); }

}  // namespace spur::cli::sim

// What sbatch, srun and salloc share beside their options.
#include "cli/submit/common.hpp"

#include "cli/common/job_text.hpp"
#include "cli/common/output.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace spur::cli::submit {
namespace {

int code_from(const char* variable, int usual) {
    const char* text = std::getenv(variable);
    const auto code = text ? find_unsigned(text) : std::nullopt;
    return code && *code < 256 ? static_cast<int>(*code) : usual;
}

}  // namespace

int error_exit_code(int usual) { return code_from("SLURM_EXIT_ERROR", usual); }
int immediate_exit_code(int usual) { return code_from("SLURM_EXIT_IMMEDIATE", usual); }

int leave(const Console& console, Tool tool, const ParseOutcome& outcome) {
    switch (outcome.end) {
        case ParseEnd::help:
            return print_out(help_text(tool)), 0;
        case ParseEnd::usage:
            return print_out(usage_text(tool)), 0;
        case ParseEnd::version:
            return print_out(slurm_version_line), 0;
        case ParseEnd::wrong:
            if (outcome.is_fatal)
                console.fatal("{}", outcome.error);
            else if (!outcome.error.empty())
                console.error_lines(outcome.error);
            else
                fmt::print(stderr, "Try \"{} --help\" for more information\n", console.program());
            return error_exit_code(outcome.exit_code);
        case ParseEnd::go_on:
            break;
    }
    return 0;
}

std::string test_report(const v1::SubmitReply& reply) {
    std::string text = reply.job_id() ? fmt::format("Job {}", reply.job_id()) : "Job";
    text += fmt::format(" to start at {} using {} processors",
                        time_text(reply.expected_start(), std::time(nullptr), "Unknown"), reply.cpus());
    if (!reply.expected_nodes().empty()) text += " on nodes " + reply.expected_nodes();
    if (!reply.partition().empty()) text += " in partition " + reply.partition();
    return text;
}

void explain_refusal(const Console& console, const Failure& failure, const v1::JobSpec& spec) {
    failure.print_details(console);
    if (failure.slurm_error != refusal::invalid_partition.number || !failure.details.empty()) return;
    std::string names;
    for (const auto& name : spec.partitions()) names += (names.empty() ? "" : ",") + name;
    console.error("invalid partition specified: {}", names);
}

std::string new_request_id() {
    std::uint64_t random[2] = {};
    if (::getrandom(random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) {
        std::timespec now{};
        ::clock_gettime(CLOCK_REALTIME, &now);
        random[0] = static_cast<std::uint64_t>(now.tv_sec) << 32 | static_cast<std::uint64_t>(now.tv_nsec);
        random[1] = static_cast<std::uint64_t>(::getpid());
    }
    return fmt::format("{:016x}{:016x}", random[0], random[1]);
}

}  // namespace spur::cli::submit

// sstat: the controller says where steps run and gives leave to ask; their nodes say what they use.
#include "cli/sstat/sstat.hpp"

#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/sstat/fields.hpp"
#include "core/base/ids.hpp"
#include "core/model/array_spec.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/endpoint.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace spur::cli {
namespace {

using namespace sstat;
using namespace std::chrono_literals;

constexpr std::string_view usage_text =
    "Usage: sstat [options] -j <job(.stepid)>\n"
    "\tUse --help for help\n";
constexpr std::size_t most_at_once = 16;  // nodes that are asked at a time

bool has_number(const v1::Step& step) {
    return std::ranges::none_of(named_steps, [&](const NamedStep& named) { return named.step == step.step_id(); });
}

// Those of the job's running steps that were asked for. Slurm says nothing of a job that has only its script.
std::vector<v1::Step> chosen_steps(const v1::Job& job, const Wanted& wanted, bool all, const Console& console) {
    std::vector<v1::Step> chosen{job.steps().begin(), job.steps().end()};
    if (chosen.empty() && !wanted.step) console.error("No steps running for job {}", wanted.job);
    // The script first, then by number.
    std::ranges::sort(chosen, {}, [](const v1::Step& step) { return std::pair{has_number(step), step.step_id()}; });
    if (wanted.step) {
        std::erase_if(chosen, [&](const v1::Step& step) { return step.step_id() != *wanted.step; });
        if (chosen.empty())
            console.error("StepId={}.{} not found running.", wanted.job, print_step_id(*wanted.step));
    } else if (!all) {
        std::erase_if(chosen, [](const v1::Step& step) { return !has_number(step); });
        if (chosen.size() > 1) chosen.resize(1);
    }
    return chosen;
}

struct Question {
    std::string node;
    std::string address;
    Result<v1::MeasureStepReply> answer = fail(ErrorCode::unavailable, "");
};

Result<v1::MeasureStepReply> ask_node(const Session& session, const Question& question,
                                      const v1::MeasureStepRequest& request) {
    SPUR_TRY(const auto endpoint, wire::resolve({question.node, question.address}));
    auto channel = session.channel_to(endpoint, question.node);
    auto reply = wire::call<v1::MeasureStepReply>(channel, "/spur.v1.Agent/MeasureStep", request,
                                                  {.timeout = 10s, .idempotent = true, .metadata = {}});
    if (!reply) return std::unexpected(static_cast<const Error&>(reply.error()));
    return *std::move(reply);
}

StepReading measure(const Session& session, const v1::LocateStepsReply& located, const v1::Step& step,
                    const Console& console) {
    v1::MeasureStepRequest request;
    request.set_permit(located.permit());
    request.set_step_id(step.step_id());
    std::vector<Question> questions;
    for (const auto& share : step.shares()) questions.push_back({.node = share.node(), .address = share.addr()});
    std::atomic<std::size_t> next{0};
    {
        std::vector<std::jthread> askers;
        for (std::size_t i = 0; i < std::min(questions.size(), most_at_once); ++i)
            askers.emplace_back([&] {
                for (std::size_t at; (at = next++) < questions.size();)
                    questions[at].answer = ask_node(session, questions[at], request);
            });
    }
    StepReading reading{.job = located.job().id(), .step = step, .nodes = {}};
    for (auto& [node, address, answer] : questions) {
        console.verbose("node {} at {} was asked for step {}.{}", node, address, located.job().id(),
                        print_step_id(step.step_id()));
        if (answer)
            reading.nodes.emplace_back(node, *std::move(answer));
        else
            console.error("there was an error with the request to {}: {}", node, answer.error().text);
    }
    return reading;
}

}  // namespace

int run_sstat(Invocation& self) {
    Options options;
    const auto outcome = apply_words(option_table(), options, self.words);
    const HelpTexts texts{help_text("sstat [OPTIONS] -j job[.step]", option_table()), usage_text};
    if (outcome.end == ParseEnd::wrong && outcome.error.empty()) return 1;  // getopt has said it all
    if (outcome.end != ParseEnd::go_on) return finish_early(outcome, self.console, texts);
    if (options.help) return print_out(texts.help), 0;
    if (options.help_format) return print_out(help_format()), 0;
    for (int i = 0; i < options.verbose; ++i) self.console.more_verbose();
    const auto columns = columns_of(options);
    if (!columns) return self.console.error("{}", columns.error().text), 1;
    options.jobs.insert(options.jobs.end(), outcome.rest.begin(), outcome.rest.end());
    const auto wanted = wanted_steps(options.jobs);
    if (!wanted && wanted.error().code == ErrorCode::invalid) return self.console.fatal("{}", wanted.error().text), 1;
    if (!wanted) return self.console.error("{}", wanted.error().text), 1;

    auto session = Session::open(self.controller, &self.console);
    if (!session) {
        session.error().print_details(self.console);
        return self.console.error("{}", session.error().text), 1;
    }
    print_out(listing_header(options, *columns));
    for (const auto& one : *wanted) {
        v1::LocateStepsRequest request;
        request.set_job(one.job);
        const auto located = session->call<v1::LocateStepsReply>("LocateSteps", request);
        if (!located) {
            const auto& failure = located.error();
            failure.print_details(self.console);
            const bool is_unknown = failure.slurm_error == refusal::invalid_job_id.number;
            self.console.error("couldn't get steps for job {}{}", one.job, is_unknown ? "" : ": " + failure.text);
            continue;
        }
        for (const auto& step : chosen_steps(located->job(), one, options.all_steps, self.console)) {
            const auto reading = measure(*session, *located, step, self.console);
            if (!reading.nodes.empty()) print_out(listing_rows(reading, options, *columns));
        }
    }
    return 0;
}

}  // namespace spur::cli

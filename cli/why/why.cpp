// Asking the controller and printing the answer.
#include "cli/why/why.hpp"

#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/why/sentences.hpp"
#include "core/model/array_spec.hpp"

#include <string_view>

namespace spur::cli {
namespace {

constexpr std::string_view help =
    "usage: spur why [--brief] JOB...\n"
    "Say why a job is not running: what it asks for, what is free, what holds it back, when it should start, and "
    "which\n"
    "smaller request would start now. JOB is any id squeue shows: 12, 12_3, 12+1.\n\n"
    "  -b, --brief  do not try out smaller requests\n"
    "  -h, --help\n";

int explain_one(Session& session, const Console& console, const std::string& id, bool brief) {
    v1::ExplainRequest request;
    request.set_id(id);
    request.set_without_alternatives(brief);
    const auto reply = session.call<v1::ExplainReply>("Explain", request);
    if (reply) return print_out(why::explain(*reply)), 0;
    reply.error().print_details(console);
    if (reply.error().code == ErrorCode::not_found)
        console.error(
            "job {} is not known here: it never was, or it ended so long ago that the controller has forgotten it", id);
    else
        console.error("{}", reply.error().text);
    return 1;
}

}  // namespace

int run_why(Invocation& self) {
    bool brief = false;
    std::vector<std::string> ids;
    for (std::size_t i = 1; i < self.words.size(); ++i) {
        const auto& word = self.words[i];
        if (word == "-h" || word == "--help") return print_out(help), 0;
        if (word == "-b" || word == "--brief") {
            brief = true;
        } else if (word.starts_with('-')) {
            self.console.error("unknown option {}; see spur why --help", word);
            return 2;
        } else if (const auto refs = parse_job_refs(word)) {
            for (const auto& ref : *refs) ids.push_back(ref.str());
        } else {
            self.console.error("{} is not a job id", word);
            return 2;
        }
    }
    if (ids.empty()) {
        self.console.error("which job? See spur why --help");
        return 2;
    }
    auto session = Session::open(self.controller, &self.console);
    if (!session) {
        session.error().print_details(self.console);
        self.console.error("{}", session.error().text);
        return 1;
    }
    int code = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (i > 0) print_out("\n");
        code = std::max(code, explain_one(*session, self.console, ids[i], brief));
    }
    return code;
}

}  // namespace spur::cli

// What scontrol's keywords share: the session, opened when first needed, the style of output, and how failures are
// told.
#pragma once

#include "cli/common/invocation.hpp"
#include "cli/common/session.hpp"
#include "cli/scontrol/record.hpp"

#include <memory>
#include <span>
#include <string>

namespace spur::cli::scontrol {

using Words = std::span<const std::string>;

class Control {
public:
    explicit Control(Invocation& self) : self_(self) {}

    // Calls the controller; a failure is printed as "<what> error: <text>" and leaves nothing.
    template <class Reply, class Request>
    std::optional<Reply> call(std::string_view method, const Request& request, std::string_view what,
                              wire::CallOptions options = Session::read_options()) {
        auto* session = open(what);
        if (session == nullptr) return std::nullopt;
        options.on_behalf_of = acting_as_;
        auto reply = session->template call<Reply>(method, request, options);
        if (reply) return std::move(*reply);
        explain(what, reply.error());
        return std::nullopt;
    }
    Session* open(std::string_view what);
    void explain(std::string_view what, const Failure& failure);

    // A line on stderr, unless -Q, and a failed exit code.
    template <class... Args>
    int complain(fmt::format_string<Args...> text, Args&&... args) {
        if (!quiet) fmt::print(stderr, "{}\n", fmt::format(text, std::forward<Args>(args)...));
        return exit_code = 1;
    }
    // "Node x not found": Slurm says so on stdout, even with -Q.
    template <class... Args>
    int not_found(fmt::format_string<Args...> text, Args&&... args) {
        fmt::print("{}\n", fmt::format(text, std::forward<Args>(args)...));
        return exit_code = 1;
    }
    // --uid: every call from here on is made as this user, by name or number.
    Result<void> act_as(const std::string& user);
    const Console& console() const { return self_.console; }
    const std::string& controller() const { return self_.controller; }

    Style style;
    bool all = false;      // -a: hidden partitions too
    std::string clusters;  // -M
    bool quiet = false;
    bool done = false;  // quit, exit
    int exit_code = 0;

private:
    Invocation& self_;
    std::string acting_as_;
    std::unique_ptr<Session> session_;
};

// scontrol show ENTITY [ID]
int show(Control& control, Words words);
// scontrol hold, release, requeue, suspend, resume, top, notify
int act_on_jobs(Control& control, v1::UpdateJobsRequest::Action action, Words words);
int update(Control& control, Words words);
int create(Control& control, Words words);
int remove(Control& control, Words words);
int ping(Control& control, Words words);
int reconfigure(Control& control, Words words);
int shutdown(Control& control, Words words);
int takeover(Control& control, Words words);
int write_file(Control& control, Words words);
int list_pids(Control& control, Words words);
int wait_job(Control& control, Words words);
int completing(Control& control, Words words);
int reboot(Control& control, Words words);
int cancel_reboot(Control& control, Words words);
int token(Control& control, Words words);

}  // namespace spur::cli::scontrol

// spur sim record: a live cluster's jobs as a trace. A job is written once it is over, for only then its run time is
// known.
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "cli/common/session.hpp"
#include "cli/sim/commands.hpp"
#include "cli/sim/recorded.hpp"

namespace spur::cli::sim {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto look_up = std::chrono::milliseconds{200};  // how long an interruption may go unnoticed

volatile sig_atomic_t interrupted = 0;

void watch_for_interruption() {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

Error to_error(const Failure& failure) { return {failure.code, failure.text}; }

class Recorder {
public:
    Recorder(Session session, std::FILE* file) : session_{std::move(session)}, file_{file} {}

    Result<void> run(Clock::time_point until) {
        SPUR_TRY(auto version, take_stock());
        SPUR_CHECK(flush());
        while (!interrupted && Clock::now() < until) {
            auto stream = session_.channel().open("/spur.v1.Controller/Watch", Session::read_options());
            if (!stream) return std::unexpected(to_error(to_failure(stream.error(), session_.cluster())));
            v1::WatchRequest request;
            request.set_since_version(version);
            request.set_jobs(true);
            if (const auto sent = stream->write(request.SerializeAsString()); !sent)
                return std::unexpected(to_error(to_failure(sent.error(), session_.cluster())));
            static_cast<void>(stream->half_close());
            SPUR_TRY(const bool lost_track, follow(*stream, version, until));
            if (!lost_track) break;
            SPUR_TRY(version, take_stock());
        }
        return {};
    }
    std::size_t written() const { return written_.size(); }

private:
    // Everything the controller knows now; what is over is written.
    Result<std::uint64_t> take_stock() {
        v1::ListJobsRequest request;
        request.add_states("all");
        request.set_all_partitions(true);
        const auto reply = session_.call<v1::ListJobsReply>("ListJobs", request);
        if (!reply) return std::unexpected(to_error(reply.error()));
        if (begins_ == 0) {
            begins_ = reply->now();
            for (const auto& job : reply->jobs()) begins_ = std::min<UnixSeconds>(begins_, job.submit_time());
            SPUR_CHECK(put(fmt::format("{{\"trace\": 1, \"begins\": {}}}\n", begins_)));
        }
        for (const auto& job : reply->jobs()) SPUR_CHECK(consider(job));
        return reply->version();
    }

    // True: the stream ended or fell behind, and the whole must be looked at again.
    Result<bool> follow(wire::Stream& stream, std::uint64_t& version, Clock::time_point until) {
        while (!interrupted && Clock::now() < until) {
            auto message = stream.read(std::min(until, Clock::now() + look_up));
            if (!message && message.error().status == wire::Status::deadline_exceeded) continue;
            if (!message || !*message) return true;
            v1::WatchReply reply;
            if (!reply.ParseFromString(**message))
                return fail(ErrorCode::corrupt, "the controller's answer cannot be read");
            if (reply.resync()) return true;
            for (const auto& job : reply.jobs()) SPUR_CHECK(consider(job));
            version = reply.version();
            SPUR_CHECK(flush());
        }
        return false;
    }

    Result<void> consider(const v1::Job& job) {
        const auto recorded = recorded_job(job, begins_);
        if (!recorded || !written_.emplace(job.id(), job.attempt()).second) return {};
        return put(print_trace_job(*recorded));
    }

    Result<void> put(std::string_view text) {
        if (std::fwrite(text.data(), 1, text.size(), file_) == text.size()) return {};
        return fail(ErrorCode::unavailable, "the trace cannot be written: {}", std::strerror(errno));
    }
    Result<void> flush() {
        if (std::fflush(file_) == 0) return {};
        return fail(ErrorCode::unavailable, "the trace cannot be written: {}", std::strerror(errno));
    }

    Session session_;
    std::FILE* file_;
    UnixSeconds begins_{};
    std::set<std::pair<std::uint32_t, std::uint32_t>> written_;  // job, attempt
};

}  // namespace

Result<int> record(const RecordOptions& options, const Invocation& self) {
    auto session = Session::open(self.controller, &self.console);
    if (!session) return std::unexpected(to_error(session.error()));
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(options.output.c_str(), "w"), std::fclose};
    if (!file) return fail(ErrorCode::denied, "{} cannot be written: {}", options.output, std::strerror(errno));
    watch_for_interruption();
    const auto until =
        options.for_s == 0 ? Clock::time_point::max() : Clock::now() + std::chrono::seconds{options.for_s};
    Recorder recorder{std::move(*session), file.get()};
    SPUR_CHECK(recorder.run(until));
    self.console.info("{} jobs are in {}", recorder.written(), options.output);
    return 0;
}

}  // namespace spur::cli::sim

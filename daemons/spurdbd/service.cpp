// The methods.
#include "daemons/spurdbd/service.hpp"

#include <ctime>

#include "core/version.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/spurdbd/history_query.hpp"
#include "daemons/spurdbd/report_query.hpp"

namespace spur::dbd {
namespace {

constexpr std::uint32_t message_version = 1;
constexpr std::chrono::seconds store_patience{60}, query_patience{300}, archive_patience{3600};
constexpr UnixSeconds freshness_s = 1;  // usage is rolled up for whoever asks, but not for each

template <class T>
void answer(const wire::Call& call, const Result<T>& reply) {
    if (!reply) return call.fail(reply.error());
    call.reply_with(*reply);
}

}  // namespace

Service::Service(Database& database, RollUp& roll_up, Access access, Retention retention)
    : database_{database},
      roll_up_{roll_up},
      access_{std::move(access)},
      boot_time_{std::time(nullptr)},
      retention_{std::move(retention)},
      writers_{work::WorkerPool::Options{.threads = 2, .longest_queue = 64}},
      readers_{work::WorkerPool::Options{.threads = 4, .longest_queue = 1000}} {}

void Service::register_all(wire::RpcServer& server) {
    server.unary("/spur.v1.Accounting/Store", [this](const wire::Call& call) { store(call); });
    server.unary("/spur.v1.Accounting/ListHistory", [this](const wire::Call& call) { list_history(call); });
    server.unary("/spur.v1.Accounting/ListRows", [this](const wire::Call& call) { list_rows(call); });
    server.unary("/spur.v1.Accounting/SumUsage", [this](const wire::Call& call) { sum_usage(call); });
    server.unary("/spur.v1.Accounting/SumJobs", [this](const wire::Call& call) { sum_jobs(call); });
    server.unary("/spur.v1.Accounting/Archive", [this](const wire::Call& call) { archive(call); });
    server.unary("/spur.v1.Accounting/About", [this](const wire::Call& call) { about(call); });
}

void Service::stop() {
    writers_.stop();
    readers_.stop();
}

void Service::store(const wire::Call& call) {
    if (!access_.is_daemon(call.caller().uid)) {
        log::warning("{}: uid {} tried to store history; refused", call.peer().address, call.caller().uid);
        return call.fail(
            Error{ErrorCode::denied, "only a controller running as root or as spurdbd's user may store history"});
    }
    auto request = call.parse<v1::StoreHistoryRequest>();
    if (!request) return call.fail(request.error());
    if (request->version() > message_version)
        return call.fail(
            Error{ErrorCode::conflict,
                  fmt::format("this spurdbd ({}) is older than the controller that sends: upgrade spurdbd first",
                              program_version)});
    if (request->cluster().empty() || request->stream().empty() || request->first() == 0 ||
        request->first() > request->last())
        return call.fail(
            Error{ErrorCode::invalid, "a batch of history needs a cluster, a stream and a range of numbers"});
    writers_.ask<v1::StoreHistoryReply>(
        "the database", store_patience,
        [this,
         request = std::make_shared<v1::StoreHistoryRequest>(std::move(*request))]() -> Result<v1::StoreHistoryReply> {
            SPUR_TRY(const auto set_aside, roll_up_.store(*request, std::time(nullptr)));
            v1::StoreHistoryReply reply;
            reply.set_stored_up_to(request->last());
            reply.set_set_aside(set_aside);
            return reply;
        },
        [call](const Result<v1::StoreHistoryReply>& reply) { answer(call, reply); });
}

void Service::list_history(const wire::Call& call) {
    auto request = call.parse<v1::ListHistoryRequest>();
    if (!request) return call.fail(request.error());
    readers_.ask<v1::ListHistoryReply>(
        "the database", query_patience,
        [this, uid = call.caller().uid, request = std::move(*request)]() -> Result<v1::ListHistoryReply> {
            const bool sees_others = access_.sees_jobs_of_others(uid) && !request.without_jobs_of_others();
            return dbd::list_history(database_, request, {uid, access_.is_operator(uid), sees_others, {}});
        },
        [call](const Result<v1::ListHistoryReply>& reply) { answer(call, reply); });
}

void Service::list_rows(const wire::Call& call) {
    auto request = call.parse<v1::ListRowsRequest>();
    if (!request) return call.fail(request.error());
    for (const auto other : {SPUR_ROW_JOB, SPUR_ROW_STEP, SPUR_ROW_USAGE, SPUR_ROW_ROLLUP})
        if (request->table() == other)
            return call.fail(
                Error{ErrorCode::invalid, "jobs, steps and usage are asked for by ListHistory and SumUsage"});
    readers_.ask<v1::ListRowsReply>(
        "the database", query_patience,
        [this, uid = call.caller().uid, request = std::move(*request)]() -> Result<v1::ListRowsReply> {
            SPUR_CHECK(access_.check_rows(uid, request.table()));
            return dbd::list_rows(database_, request);
        },
        [call](const Result<v1::ListRowsReply>& reply) { answer(call, reply); });
}

void Service::sum_usage(const wire::Call& call) {
    auto request = call.parse<v1::SumUsageRequest>();
    if (!request) return call.fail(request.error());
    readers_.ask<v1::SumUsageReply>(
        "the database", query_patience,
        [this, uid = call.caller().uid, request = std::move(*request)]() -> Result<v1::SumUsageReply> {
            const auto now = static_cast<UnixSeconds>(std::time(nullptr));
            if (now - roll_up_.last_run() >= freshness_s) SPUR_CHECK(roll_up_.run(now));
            return dbd::sum_usage(roll_up_, request, access_.sees_usage_only_of(uid));
        },
        [call](const Result<v1::SumUsageReply>& reply) { answer(call, reply); });
}

void Service::sum_jobs(const wire::Call& call) {
    auto request = call.parse<v1::SumJobsRequest>();
    if (!request) return call.fail(request.error());
    readers_.ask<v1::SumJobsReply>(
        "the database", query_patience,
        [this, uid = call.caller().uid, request = std::move(*request)]() -> Result<v1::SumJobsReply> {
            return dbd::sum_jobs(database_, request, std::time(nullptr),
                                 access_.sees_jobs_of_others(uid) ? std::nullopt : std::optional<Uid>{uid});
        },
        [call](const Result<v1::SumJobsReply>& reply) { answer(call, reply); });
}

void Service::archive(const wire::Call& call) {
    auto request = call.parse<v1::ArchiveRequest>();
    if (!request) return call.fail(request.error());
    writers_.ask<v1::ArchiveReply>(
        "the database", archive_patience,
        [this, uid = call.caller().uid, peer = call.peer().address,
         request = std::make_shared<v1::ArchiveRequest>(std::move(*request))]() -> Result<v1::ArchiveReply> {
            if (!access_.is_administrator(uid)) {
                log::warning("{}: uid {} tried to archive history; refused", peer, uid);
                return fail(ErrorCode::denied, "only an administrator may archive history, or load an archive");
            }
            if (request->what() == v1::ArchiveRequest::LOAD) return load_archive(database_, request->content());
            auto retention = retention_;
            if (!request->directory().empty()) retention.directory = request->directory();
            if (retention.directory.empty())
                return fail(ErrorCode::invalid,
                            "say where to: directory=, or archive_dir under [accounting] in spur.conf");
            if (!request->keep_hours().empty()) retention.keep_hours.clear();
            for (const auto& [name, hours] : request->keep_hours()) {
                SPUR_TRY(const auto table, Retention::table_named(name));
                retention.keep_hours[table] = hours;
            }
            if (retention.keep_hours.empty())
                return fail(ErrorCode::invalid, "nothing is to be purged: name it, such as purgejobafter=12months");
            return purge_old(database_, roll_up_, request->cluster(), retention, std::time(nullptr));
        },
        [call](const Result<v1::ArchiveReply>& reply) { answer(call, reply); });
}

void Service::about(const wire::Call& call) {
    v1::AboutAccountingReply reply;
    reply.set_version(program_version);
    reply.set_plugin(database_.type());
    reply.set_schema(database_.schema());
    reply.set_stored(database_.stored());
    reply.set_set_aside(database_.set_aside());
    reply.set_boot_time(boot_time_);
    reply.set_rolled_up(roll_up_.last_run());
    call.reply_with(reply);
}

}  // namespace spur::dbd

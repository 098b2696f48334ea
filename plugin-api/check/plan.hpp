// The far end of a planner's sink: writes the plan down and objects, as a sentence, to everything in it that may not
// be.
#pragma once

#include "cluster.hpp"
#include "ledger.hpp"
#include "memory.hpp"

#include <spur/plugin/sched.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>

namespace spur::check {

class Plan {
public:
    // `limited` slots are refused by may_start() and start(). stopped() turns to 1 at the `stop_at`-th question.
    Plan(const spur_cluster_view& view, Shape shape = {}, std::set<std::uint32_t> limited = {},
         std::uint64_t stop_at = UINT64_MAX);
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    const spur_plan_sink* sink() const { return sink_; }
    void close();  // plan() has returned

    const std::string& text() const { return text_; }    // equal texts are equal plans
    const std::string& fault() const { return fault_; }  // the first; "" if none
    std::uint32_t starts() const { return starts_; }
    std::uint64_t questions() const { return questions_; }  // how often stopped() was asked

private:
    static Plan& of(const spur_plan_sink* sink, const char* call);
    spur_status may_start(std::uint32_t job, std::uint32_t partition);
    spur_status start(std::uint32_t job, std::uint32_t partition, const spur_placement* placement,
                      std::uint32_t limit_s);
    void expect(std::uint32_t job, std::int64_t at, std::uint32_t partition);
    void waits(std::uint32_t job, std::uint32_t reason);
    spur_status preempt(std::uint32_t job, std::uint32_t partition, const std::uint32_t* victims, std::uint32_t count,
                        const spur_placement* placement);

    using Why = std::optional<std::string>;
    Why objection_to(std::uint32_t job, std::uint32_t partition, spur_span shares, std::uint32_t limit_s) const;
    Why partition_objection(const spur_job_view& job, std::uint32_t partition, std::size_t nodes,
                            std::uint32_t limit_s) const;
    Why reservation_objection(const spur_job_view& job, spur_span shares, std::uint32_t limit_s) const;
    Why license_objection(const spur_job_view& job) const;
    const spur_job_view& pending(std::uint32_t slot) const { return *SPUR_AT(spur_job_view, view_.pending, slot); }
    void object(std::string text);

    const spur_cluster_view& view_;
    Memory memory_;
    const spur_plan_sink* sink_;
    Ledger ledger_;
    std::set<std::uint32_t> waiting_;  // slots of pending jobs
    std::set<std::uint32_t> limited_;
    std::map<std::uint32_t, std::uint32_t> started_;   // tasks by slot
    std::map<std::uint32_t, std::uint32_t> licensed_;  // licenses taken
    std::uint64_t stop_at_, questions_ = 0;
    std::uint32_t starts_ = 0;
    bool open_ = true;
    std::thread::id thread_ = std::this_thread::get_id();
    std::string text_, fault_;
};

}  // namespace spur::check

// Arrays: one record until a task is started, ended or changed by itself.
#include "core/machine/cluster_ops.hpp"

namespace spur {

namespace {

// The set without `task`; in place when nobody else looks at it, so taking 100,000 tasks one by one stays cheap.
std::shared_ptr<const TaskSet> without(std::shared_ptr<const TaskSet> tasks, std::uint32_t task) {
    if (tasks.use_count() == 1) {
        const_cast<TaskSet&>(*tasks).remove(task);  // made by make_shared<TaskSet>, not const
        return tasks;
    }
    auto copy = std::make_shared<TaskSet>(*tasks);
    copy->remove(task);
    return copy;
}

}  // namespace

// The last task keeps the array's own id, as in Slurm; every other gets the next number.
Job& ClusterOps::split_task(Job& record, std::uint32_t task) {
    if (record.array_pending->size() == 1) {
        Change change{*this, record};
        record.array_task = task;
        record.array_pending = nullptr;
        record.array_limit = 0;
        index().families[record.array_job][task] = record.id;
        events.push_back(ArraySplit{record.array_job, record.id, task});
        return record;
    }
    Job part = record;
    part.id = JobId{new_job_id()};
    part.array_task = task;
    part.array_pending = nullptr;
    part.array_limit = 0;
    c.blobs_.add(part.spec->script, part.spec->uid);
    c.blobs_.add(part.spec->environment, part.spec->uid);
    {
        Change change{*this, record};
        record.array_pending = without(std::move(record.array_pending), task);
    }
    --index().task_total;
    events.push_back(ArraySplit{record.array_job, part.id, task});
    events.push_back(JobChanged{record.id});
    return add_job(std::move(part));
}

}  // namespace spur

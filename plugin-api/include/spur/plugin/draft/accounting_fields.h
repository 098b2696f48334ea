/* spur/plugin/draft/accounting_fields.h - the fields of every table that spurdbd stores, as lists to iterate.
 *
 * A list is a macro that calls X(name, kind, role) once a field, keys first and in their order:
 *
 *   #define COLUMN(name, kind, role) {#name, SPUR_FIELD_##kind},
 *   static const struct column job_columns[] = {SPUR_JOB_FIELDS(COLUMN)};
 *
 * kind: TEXT, INT, REAL, BYTES or TRES as in accounting.h; TIME is an INT of unix seconds, absent while it is not known.
 * role: KEY is part of what tells rows apart (beside the cluster, which every row has) and never absent; FIND is often asked for,
 * so that an index pays; HOSTS is a hostlist such as "n[1-4]"; PLAIN is none of these.
 *
 * A store has a column for each, and keeps fields that are not listed here as well: see accounting.h. A later release appends. The
 * list is checked against the tables that spurdbd fills rows from and sacct reads them by (daemons/common/history). */
#ifndef SPUR_PLUGIN_ACCOUNTING_FIELDS_H
#define SPUR_PLUGIN_ACCOUNTING_FIELDS_H

/* A row per run of a job: `attempt` is 1 for the first and grows with every requeue, also if it has not started yet. */
/* clang-format off */
#define SPUR_JOB_FIELDS(X) \
    X(job_id, INT, KEY) X(submit_time, TIME, KEY) X(attempt, INT, KEY) \
    X(array_job_id, INT, FIND)       /* absent: of no array */ \
    X(array_task_id, INT, PLAIN)     /* absent: not split off yet; then array_tasks says which ones wait */ \
    X(array_tasks, TEXT, PLAIN) \
    X(het_job_id, INT, FIND) X(het_job_offset, INT, PLAIN) \
    X(name, TEXT, FIND) X(user_name, TEXT, FIND) X(uid, INT, PLAIN) X(group_name, TEXT, PLAIN) X(gid, INT, PLAIN) \
    X(account, TEXT, FIND) X(partition, TEXT, FIND) X(qos, TEXT, PLAIN) X(reservation, TEXT, PLAIN) X(wckey, TEXT, PLAIN) \
    X(association_id, INT, PLAIN) \
    X(state, TEXT, FIND)             /* "COMPLETED": slurm.h's base states */ \
    X(flags, INT, PLAIN)             /* slurm.h's bits above the state: JOB_REQUEUE and the like */ \
    X(reason, TEXT, PLAIN) X(exit_code, INT, PLAIN) /* as wait(2) has it */ X(derived_exit_code, INT, PLAIN) \
    X(cancelled_by, INT, PLAIN)      /* a uid */ \
    X(priority, INT, PLAIN) X(restarts, INT, PLAIN) \
    X(eligible_time, TIME, PLAIN) X(start_time, TIME, FIND) X(end_time, TIME, FIND) X(suspended_s, INT, PLAIN) \
    X(time_limit_min, INT, PLAIN)    /* absent: unlimited */ \
    X(node_count, INT, PLAIN) X(cpus, INT, PLAIN) X(tasks, INT, PLAIN) X(nodes, TEXT, HOSTS) \
    X(tres_requested, TRES, PLAIN) X(tres_allocated, TRES, PLAIN) \
    X(constraints, TEXT, PLAIN) X(work_dir, TEXT, PLAIN) X(submit_line, TEXT, PLAIN) \
    X(comment, TEXT, PLAIN) X(admin_comment, TEXT, PLAIN) X(system_comment, TEXT, PLAIN) X(mcs_label, TEXT, PLAIN) \
    X(container, TEXT, PLAIN)

/* The job's key, and the step's number; slurm.h's special numbers for batch, extern and interactive ones.
 * The first five of what was used are of the whole step, but for max_rss_bytes: that is of the task that had most. The rest was
 * measured task by task and is listed by what it is: cpu (microseconds), mem (bytes resident), vmem (bytes), pages (major faults),
 * disk_read and disk_write (bytes that system calls moved, where read_bytes and write_bytes are what disks did), gres/gpumem (bytes),
 * gres/gpuutil (percent). */
#define SPUR_STEP_FIELDS(X) \
    X(job_id, INT, KEY) X(submit_time, TIME, KEY) X(attempt, INT, KEY) X(step_id, INT, KEY) \
    X(name, TEXT, PLAIN) X(state, TEXT, PLAIN) X(exit_code, INT, PLAIN) X(start_time, TIME, FIND) X(end_time, TIME, PLAIN) \
    X(tasks, INT, PLAIN) X(cpus, INT, PLAIN) X(node_count, INT, PLAIN) X(nodes, TEXT, HOSTS) X(time_limit_min, INT, PLAIN) \
    X(tres_allocated, TRES, PLAIN) X(layout, TEXT, PLAIN) \
    X(user_us, INT, PLAIN) X(system_us, INT, PLAIN) X(max_rss_bytes, INT, PLAIN) \
    X(read_bytes, INT, PLAIN) X(write_bytes, INT, PLAIN) \
    X(measured_tasks, INT, PLAIN)    /* a total divided by it is the average; absent: nothing was measured */ \
    X(usage_max, TRES, PLAIN)        /* the most that one task used */ \
    X(usage_max_task, TRES, PLAIN)   /* which task; absent: task 0 throughout */ \
    X(usage_max_node, TEXT, PLAIN)   /* on which node: "n1", or where they differ "cpu=n1,mem=n2" */ \
    X(usage_min, TRES, PLAIN)        /* the least; this and all below are absent if there was one task: then they are its most */ \
    X(usage_min_task, TRES, PLAIN) X(usage_min_node, TEXT, PLAIN) \
    X(usage_total, TRES, PLAIN)      /* of all tasks */

/* A node, or the whole cluster (node ""), was not what it should be from start_time on. */
#define SPUR_EVENT_FIELDS(X) \
    X(node, TEXT, KEY) X(start_time, TIME, KEY) \
    X(end_time, TIME, FIND) X(state, TEXT, PLAIN) X(reason, TEXT, PLAIN) X(reason_uid, INT, PLAIN) X(tres, TRES, PLAIN)

/* Rolled up by spurdbd: what was used in `period` ("hour", "day", "month") from start_time on, in seconds times the count. Without a
 * user: the whole cluster, of which `count` is what it had; all but over_s (more was planned than was idle) add up to that times the seconds. */
#define SPUR_USAGE_FIELDS(X) \
    X(period, TEXT, KEY) X(start_time, TIME, KEY) X(account, TEXT, KEY) X(user_name, TEXT, KEY) X(qos, TEXT, KEY) X(wckey, TEXT, KEY) \
    X(tres, TEXT, KEY) \
    X(allocated_s, INT, PLAIN) X(planned_s, INT, PLAIN) X(idle_s, INT, PLAIN) X(down_s, INT, PLAIN) X(planned_down_s, INT, PLAIN) X(over_s, INT, PLAIN) \
    X(count, INT, PLAIN)
/* Which hours are to be rolled up (again): those whose stamp is not what was done last. */
#define SPUR_ROLLUP_FIELDS(X) X(start_time, TIME, KEY) X(stamp, INT, PLAIN) X(done, INT, PLAIN)

#define SPUR_ACCOUNT_FIELDS(X) X(name, TEXT, KEY) X(description, TEXT, PLAIN) X(organization, TEXT, PLAIN)
#define SPUR_USER_FIELDS(X) \
    X(name, TEXT, KEY) X(uid, INT, PLAIN) X(default_account, TEXT, PLAIN) X(default_wckey, TEXT, PLAIN) \
    X(admin_level, TEXT, PLAIN) X(coordinates, TEXT, PLAIN)
#define SPUR_ASSOCIATION_FIELDS(X) \
    X(id, INT, KEY) X(account, TEXT, FIND) X(user_name, TEXT, FIND) X(partition, TEXT, PLAIN) X(parent, TEXT, PLAIN) \
    X(shares, INT, PLAIN) X(default_qos, TEXT, PLAIN) X(qos, TEXT, PLAIN)
#define SPUR_QOS_FIELDS(X) \
    X(name, TEXT, KEY) X(id, INT, PLAIN) X(description, TEXT, PLAIN) X(priority, INT, PLAIN) X(preempt, TEXT, PLAIN) \
    X(preempt_mode, TEXT, PLAIN) X(usage_factor, REAL, PLAIN) X(flags, TEXT, PLAIN)
#define SPUR_TRES_FIELDS(X) X(id, INT, KEY) X(type, TEXT, PLAIN) X(name, TEXT, PLAIN)
#define SPUR_RESERVATION_FIELDS(X) \
    X(name, TEXT, KEY) X(start_time, TIME, KEY) \
    X(end_time, TIME, FIND) X(nodes, TEXT, HOSTS) X(tres, TRES, PLAIN) X(accounts, TEXT, PLAIN) X(users, TEXT, PLAIN) \
    X(flags, TEXT, PLAIN)
#define SPUR_CLUSTER_FIELDS(X) X(name, TEXT, KEY) X(control_host, TEXT, PLAIN) X(control_port, INT, PLAIN) X(tres, TRES, PLAIN)
#define SPUR_TRANSACTION_FIELDS(X) \
    X(time, TIME, KEY) X(actor, TEXT, KEY) X(number, INT, KEY) X(action, TEXT, PLAIN) X(subject, TEXT, PLAIN) X(change, TEXT, PLAIN)
#define SPUR_WCKEY_FIELDS(X) X(name, TEXT, KEY) X(user_name, TEXT, KEY)
/* A row that could not be stored, as spurdbd keeps it for whoever looks into it: what was wrong, and its bytes. */
#define SPUR_SET_ASIDE_FIELDS(X) \
    X(stream, TEXT, KEY) X(number, INT, KEY) X(time, TIME, PLAIN) X(why, TEXT, PLAIN) X(entry, BYTES, PLAIN)

/* Every table: X(constant of accounting.h, its name, the list of its fields). */
#define SPUR_ROW_TABLES(X) \
    X(SPUR_ROW_JOB, job, SPUR_JOB_FIELDS) X(SPUR_ROW_STEP, step, SPUR_STEP_FIELDS) X(SPUR_ROW_EVENT, event, SPUR_EVENT_FIELDS) \
    X(SPUR_ROW_USAGE, usage, SPUR_USAGE_FIELDS) X(SPUR_ROW_ACCOUNT, account, SPUR_ACCOUNT_FIELDS) \
    X(SPUR_ROW_USER, user, SPUR_USER_FIELDS) X(SPUR_ROW_ASSOCIATION, association, SPUR_ASSOCIATION_FIELDS) \
    X(SPUR_ROW_QOS, qos, SPUR_QOS_FIELDS) X(SPUR_ROW_TRES, tres, SPUR_TRES_FIELDS) \
    X(SPUR_ROW_RESERVATION, reservation, SPUR_RESERVATION_FIELDS) X(SPUR_ROW_CLUSTER, cluster, SPUR_CLUSTER_FIELDS) \
    X(SPUR_ROW_TRANSACTION, transaction, SPUR_TRANSACTION_FIELDS) X(SPUR_ROW_WCKEY, wckey, SPUR_WCKEY_FIELDS) \
    X(SPUR_ROW_SET_ASIDE, set_aside, SPUR_SET_ASIDE_FIELDS) X(SPUR_ROW_ROLLUP, rollup, SPUR_ROLLUP_FIELDS)
/* clang-format on */

#endif

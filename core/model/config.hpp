// The configuration as values. `ClusterConfig` is the part that becomes cluster state, by a command, so that every
// controller and every replay sees the same; the rest belongs to whoever reads the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/text.hpp"
#include "core/model/node.hpp"
#include "core/model/partition.hpp"
#include "core/model/resources.hpp"

namespace spur {

namespace enforce_flag {  // AccountingStorageEnforce
inline constexpr std::uint32_t associations = 1U << 0;
inline constexpr std::uint32_t limits = 1U << 1;
inline constexpr std::uint32_t qos = 1U << 2;
inline constexpr std::uint32_t safe = 1U << 3;
inline constexpr std::uint32_t wckeys = 1U << 4;
}  // namespace enforce_flag

namespace private_data {  // PrivateData: what users see of others only with an operator's rights
inline constexpr std::uint32_t accounts = 1U << 0;
inline constexpr std::uint32_t events = 1U << 1;
inline constexpr std::uint32_t jobs = 1U << 2;
inline constexpr std::uint32_t nodes = 1U << 3;
inline constexpr std::uint32_t partitions = 1U << 4;
inline constexpr std::uint32_t reservations = 1U << 5;
inline constexpr std::uint32_t usage = 1U << 6;
inline constexpr std::uint32_t users = 1U << 7;
}  // namespace private_data

namespace store_flag {  // AccountingStoreFlags: what history keeps of a job beside what it was and used
inline constexpr std::uint32_t job_comment = 1U << 0;
inline constexpr std::uint32_t job_env = 1U << 1;
inline constexpr std::uint32_t job_script = 1U << 2;
}  // namespace store_flag

enum class EnforcePartLimits : std::uint8_t { no, any, all };

// PreemptType: who may preempt whom. Either rule, none, or only one of the two.
enum class PreemptType : std::uint8_t { any, none, partition_prio, qos };

// Rules the state machine itself follows. Defaults are Slurm's.
struct Policies {
    std::uint32_t first_job_id{1};
    std::uint32_t max_job_id{67'043'328};
    std::uint32_t max_job_count{1'000'000};   // Slurm has 10,000; this is what one controller holds with ease
    std::uint32_t max_array_size{1'000'001};  // Slurm has 1,001; here an array is one record however many tasks it has
    std::uint32_t max_step_count{40'000};
    std::uint32_t max_tasks_per_node{512};
    std::uint32_t min_job_age_s{300};
    std::uint32_t over_time_limit_min{};
    std::uint32_t resv_over_run_min{};  // how long jobs may run on after their reservation's end; unlimited: to theirs
    std::uint32_t kill_wait_s{30};
    std::uint32_t inactive_limit_s{};
    std::uint32_t batch_start_timeout_s{10};
    bool job_requeue{true};  // JobRequeue: what jobs that did not say mean
    std::uint32_t max_batch_requeue{5};
    bool kill_on_invalid_dependency{false};  // DependencyParameters=kill_invalid_depend
    std::uint8_t return_to_service{1};       // 0 by hand only, 1 if it was not responding, 2 always
    EnforcePartLimits enforce_part_limits{EnforcePartLimits::no};
    std::uint32_t enforce{};  // enforce_flag
    PreemptMode preempt_mode{PreemptMode::off};
    PreemptType preempt_type{PreemptType::any};
    std::uint32_t preempt_exempt_time_s{};
    std::uint32_t max_switch_wait_s{300};     // the longest a job may wait for fewer switches
    std::uint64_t default_mem_per_cpu_mib{};  // 0: none
    std::uint64_t default_mem_per_node_mib{};
    std::uint64_t max_mem_per_cpu_mib{};
    std::uint64_t max_mem_per_node_mib{};
    bool track_memory{true};  // memory is a resource that runs out; false: only cores and gres are
    bool disable_root_jobs{false};
    std::vector<std::uint32_t> requeue_exit;       // RequeueExit
    std::vector<std::uint32_t> requeue_exit_hold;  // RequeueExitHold
    std::uint32_t default_time_min{};              // where neither job nor partition says; 0: the partition's maximum
    std::uint64_t usage_half_life_s{7 * 86'400};
    bool config_overrides{false};   // nodes are what the configuration says, whatever is found there
    bool keep_outbox{false};        // remember what accounting must hear until it has
    bool bill_highest_only{false};  // PriorityFlags=MAX_TRES: the dearest resource is billed, not the sum of them all
    std::uint64_t max_stored_per_user_mib{};  // scripts, environments and long texts of one user's jobs; 0: no limit
    std::uint32_t private_data{};             // private_data
    bool operator==(const Policies&) const = default;
};

// A switch of the network: leaves have nodes, the others have switches below them.
struct SwitchConfig {
    Text name;
    std::vector<Text> nodes;     // expanded
    std::vector<Text> switches;  // expanded
    bool operator==(const SwitchConfig&) const = default;
};

struct ClusterConfig {
    Text cluster_name;
    std::vector<NodeConfig> nodes;
    std::vector<Partition> partitions;
    std::vector<LicenseCount> licenses;
    Policies policies;
    std::vector<SwitchConfig> switches;  // none: every node is as near as any other
    bool operator==(const ClusterConfig&) const = default;
};

// ---- the whole of spur.conf ----------------------------------------------------------------------------------------

using ConfigValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;
struct ConfigOption {
    std::string key;
    ConfigValue value;
    std::uint32_t line{};
    bool operator==(const ConfigOption&) const = default;
};

struct ControllerConfig {
    std::string listen_addr;  // "host:port"; empty: the default
    std::string state_dir;
    std::vector<std::string> hosts;  // the voters; empty or one: a single controller
    bool operator==(const ControllerConfig&) const = default;
};

struct SchedulerConfig {
    std::string plugin{"sched/backfill"};
    std::uint32_t interval_s{60};  // a backstop: events wake the scheduler at once
    double budget_s{2};            // what one planning cycle may take before it is told to stop
    double fairshare_halflife_days{7};
    std::uint32_t fairshare_interval_s{300};  // how often running jobs are charged and old usage fades
    bool operator==(const SchedulerConfig&) const = default;
};

struct AgentConfig {          // what agents are told when they join
    std::string listen_addr;  // "host:port"; empty: the default
    std::string spool_dir;    // scripts, sockets and step daemons; empty: the default
    std::string prolog, epilog, task_prolog, task_epilog, reboot_program;
    std::uint32_t sample_s{30};    // how often the tasks of a step are measured; 0: when they end
    bool over_memory_kill{false};  // a step that is found to have more memory than it asked for is killed
    std::uint32_t heartbeat_s{15};
    std::uint32_t timeout_s{300};                   // silent for so long: DOWN
    std::uint32_t step_key_lifetime_s{30 * 86400};  // a leader signs steps with one key for so long; 0: for ever
    std::vector<std::string> certificate_names{"%n", "%n.*"};  // what an agent's certificate may be made out to
    bool operator==(const AgentConfig&) const = default;
};

struct AuthConfig {
    std::string plugin{"auth/local"};
    std::vector<std::string> administrators;
    std::vector<std::string> operators;
    bool operator==(const AuthConfig&) const = default;
};

struct TlsConfig {
    std::string certificate, key, ca;  // all three, or none
    bool operator==(const TlsConfig&) const = default;
};

struct AccountingConfig {
    std::string database_url;  // where spurdbd keeps history
    std::string host;          // "host:port" of spurdbd as the controller reaches it; empty: there is none
    std::string listen_addr;   // where spurdbd listens; empty: the default
    std::uint32_t store_flags{};  // store_flag
    std::string archive_dir;   // what is purged is written there first; empty: it is not
    // Hours after its end that something is kept; 0: for ever.
    std::uint32_t purge_job_h{}, purge_step_h{}, purge_event_h{}, purge_reservation_h{}, purge_usage_h{}, purge_transaction_h{};
    bool operator==(const AccountingConfig&) const = default;
};

struct LoggingConfig {
    std::string level{"info"};
    std::string file;  // empty: stderr
    bool json{false};
    bool operator==(const LoggingConfig&) const = default;
};

// Spur never replaces its own files; at most it tells that there is something newer.
struct UpdateConfig {
    bool check_on_startup{false};
    std::string channel{"stable"};
    std::string feed;  // a file with lines "stable 1.2.0", kept by whoever mirrors releases
    bool operator==(const UpdateConfig&) const = default;
};

struct Config {
    std::string path;  // where it was read; empty: built in
    ClusterConfig cluster;
    ControllerConfig controller;
    SchedulerConfig scheduler;
    AgentConfig agent;
    AuthConfig auth;
    TlsConfig tls;
    AccountingConfig accounting;
    LoggingConfig logging;
    UpdateConfig update;
    std::vector<std::string> plugin_dirs;
    std::map<std::string, std::vector<std::string>> plugins;  // axis -> "axis/name", several where the axis allows
    std::map<std::string, std::vector<ConfigOption>> plugin_options;  // "axis/name" -> its section
    bool operator==(const Config&) const = default;
};

}  // namespace spur

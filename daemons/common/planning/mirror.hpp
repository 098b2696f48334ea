// The scheduler's own copy of what policy plugins look at: records in the shape of the ABI, kept between cycles and
// updated only where the read model changed, so that handing a view to a plugin copies nothing per record.
//
// Node indexes are NodeId values. Jobs keep their slot while they wait or run. [scheduler thread only]
#pragma once

#include <spur/plugin/priority.h>
#include <spur/plugin/view.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "daemons/common/planning/read_model.hpp"

namespace spur::planning {

using Words = std::vector<std::uint64_t>;

// A set of nodes that many jobs share: what a constraint, a partition or a list of names means here.
struct NodeFilter {
    std::uint64_t digest{};  // of the texts it was made from
    Words eligible;
    std::vector<Words> alternative_words;
    std::vector<spur_bits> alternatives;
    std::vector<Words> quota_words;
    std::vector<spur_node_quota> quotas;
    Words required, preferred;
    Text missing;  // required nodes that the configuration does not have: "n[4-5]"
};

// What the pointers of one spur_job_view lead to.
struct JobBacking {
    std::shared_ptr<const Job> job;
    std::shared_ptr<const NodeFilter> filter;
    std::vector<std::uint32_t> partitions;
    std::vector<spur_gres_request> gres;
    std::vector<spur_license_request> licenses;
    std::vector<spur_node_share> shares;
    spur_placement held;
    std::vector<spur_gres_share> share_gres;
    Words words;
    std::uint32_t min_priority{};  // with less than that nothing is kept free for it
};

// Slots for jobs of one kind (pending or running).
class JobTable {
public:
    std::uint32_t claim(JobId id);  // its slot, or a new one
    void release(JobId id);
    std::uint32_t find(JobId id) const;  // SPUR_NONE
    spur_job_view& view(std::uint32_t slot) { return views_[slot]; }
    const spur_job_view& view(std::uint32_t slot) const { return views_[slot]; }
    JobBacking& backing(std::uint32_t slot) { return *backings_[slot]; }
    const JobBacking& backing(std::uint32_t slot) const { return *backings_[slot]; }
    spur_span span() const;
    std::size_t size() const { return slots_.size(); }
    template <class F>
    void for_each(F&& f) const {
        for (const auto& [id, slot] : slots_) f(slot);
    }
    void clear();

private:
    std::vector<spur_job_view> views_;
    std::vector<std::unique_ptr<JobBacking>> backings_;
    std::vector<std::uint32_t> free_;
    std::unordered_map<JobId, std::uint32_t> slots_;
};

class Mirror {
public:
    // What the policy plugins in force understand of jobs' wishes (SPUR_WISH_*). True: other than before, so the next
    // update() has to be of everything.
    bool set_understood(std::uint64_t wishes) { return std::exchange(understood_, wishes) != wishes; }
    // Brings the records up to date.
    void update(const std::shared_ptr<const ReadModel>& model, const Changes& changes);

    // The view at `now`; valid until the next update().
    const spur_cluster_view& view(UnixSeconds now);
    JobTable& pending() { return pending_; }
    JobTable& running() { return running_; }
    const ReadModel& model() const { return *model_; }
    const Partition& partition(std::uint32_t index) const {
        return model_->directory->partitions[partition_of_[index]];
    }
    std::uint32_t partition_count() const { return static_cast<std::uint32_t>(partition_views_.size()); }
    std::string_view gres_name(std::uint32_t number) const { return gres_names_.texts[number]; }
    std::string_view gres_type(std::uint32_t number) const { return gres_types_.texts[number]; }
    const std::map<AssociationId, std::uint32_t>& associations() const { return association_index_; }

    // Waiting jobs that the last view left out: their array has as many tasks running as it may.
    const std::vector<std::uint32_t>& at_array_limit() const { return at_array_limit_; }
    // Waiting jobs that require a node which has left the configuration: no planner is shown them until it is back.
    const std::set<std::uint32_t>& without_node() const { return without_node_; }

    // Waiting jobs with a wish that no plugin in force understands: no planner is shown them either.
    const std::set<std::uint32_t>& misunderstood() const { return misunderstood_; }
    std::uint64_t understood() const { return understood_; }

    // A cycle has seen everything: the next view's changes start here.
    void end_cycle();

    // The next moment at which the passing of time alone lets a planner do more: a job has waited long enough for few
    // switches, or may be preempted from now on. 0: there is none.
    UnixSeconds next_alarm(UnixSeconds now);

    // Slots whose priority is not known yet; score them and call place().
    std::vector<std::uint32_t>& unscored() { return unscored_; }
    void place(std::uint32_t slot, std::uint64_t priority);
    void rescore_all();

private:
    struct Interned {
        std::unordered_map<std::string, std::uint32_t> numbers;
        std::vector<std::string> texts;
        std::vector<spur_str> views;
        std::uint32_t number(std::string_view text);
        void refresh();
    };
    struct NodeBacking {  // what the pointers of one spur_node_view lead to
        std::shared_ptr<const Node> node;
        Words cores_used, cores_offered, features;
        std::vector<spur_gres_view> gres;
        std::vector<std::vector<spur_device_view>> devices;
        std::vector<spur_device_link> links;
        std::deque<Words> near_cores;
        std::vector<std::uint32_t> groups;
        std::uint32_t klass{};
    };

    void rebuild();
    void update_switches();
    void update_directory();
    void add_repetitions();
    void update_node(const Node& node);
    void fill_node_gres(const Node& node, NodeBacking& backing);
    void add_gpus(const Node& node, std::size_t which, NodeBacking& backing, std::vector<spur_device_view>& devices);
    void add_shards(const Node& node, const GresPool& pool, std::uint32_t gpus_at,
                    std::vector<spur_device_view>& devices);
    void update_job(JobId id);
    std::uint32_t startable_tasks(const Job& job) const;  // of the record, as its array's limit stands
    void refresh_references();
    std::uint32_t min_priority_of(const Job& job, const Qos* qos) const;
    std::uint32_t lifted_partition(std::uint32_t partition, std::uint32_t flags);
    void fill_references(const Job& job, JobBacking& backing, spur_job_view& view);
    void fill_request(const Job& job, std::uint32_t slot, JobTable& table);
    void add_share_gres(const GresShare& gres, JobBacking& backing);
    void fill_shares(const Job& job, JobBacking& backing, spur_job_view& view);
    std::uint32_t core_count_of(const Reservation& reservation) const;  // of all its nodes
    Words cores_of(const Reservation& reservation) const;
    void fill_gres(const Request& request, JobBacking& backing);
    std::shared_ptr<const NodeFilter> filter_for(const JobSpec& spec, const Request& request);
    void sort_orders();
    void sort_pending();
    void sort_running();
    void apply_array_limits();
    void count_licenses();

    std::shared_ptr<const ReadModel> model_;
    std::vector<spur_node_view> node_views_;
    std::vector<std::unique_ptr<NodeBacking>> node_backings_;
    std::vector<spur_partition_view> partition_views_;
    std::vector<Words> partition_words_;
    // Views of a partition with limits that some QOS may pass come after those of all partitions.
    std::vector<std::uint32_t> partition_of_;  // by view: place in the directory
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> lifted_partitions_;  // (partition, flags) -> view
    std::vector<std::vector<spur_tres_weight>> partition_billing_;
    std::vector<spur_license_view> license_views_;
    std::vector<std::string> license_names_;
    std::vector<spur_qos_view> qos_views_;
    std::vector<std::string> qos_names_;
    std::vector<Words> qos_words_;
    std::vector<spur_association_view> association_views_;
    std::map<AssociationId, std::uint32_t> association_index_;
    std::vector<spur_reservation_view> reservation_views_;
    std::vector<Words> reservation_words_, reservation_cores_;
    std::vector<std::vector<spur_license_request>> reservation_licenses_;
    std::vector<spur_group_view> switch_views_;
    std::vector<Words> switch_words_;
    Interned features_, gres_names_, gres_types_;
    std::unordered_map<std::string, std::shared_ptr<const NodeFilter>> filters_;
    std::map<std::string, std::uint32_t> node_classes_;

    JobTable pending_, running_;
    struct Placed {
        std::uint64_t priority;
        std::uint32_t id;
        std::uint32_t slot;
    };
    std::vector<Placed> placed_;    // sorted
    std::vector<Placed> to_place_;  // to be merged in
    std::vector<Placed> merged_;    // only while they are sorted; kept for its memory
    // Who waits in a slot and how much that is worth: kept apart from the records, so that putting the queue in order
    // touches little memory.
    struct Owner {
        std::uint64_t priority;
        std::uint32_t id;  // 0: nobody, or not scored yet
    };
    std::vector<Owner> owners_;  // by slot
    bool order_dirty_{true}, running_dirty_{true};
    std::vector<std::uint32_t> pending_order_, running_order_;
    std::vector<std::uint32_t> unscored_;
    std::unordered_set<std::uint32_t> array_slots_;  // pending jobs of arrays: how many may start changes without them
    std::vector<std::uint32_t> at_array_limit_;
    std::unordered_set<std::uint32_t> not_yet_;  // slots of jobs that wait for a time or for others
    std::set<std::uint32_t> without_node_;       // of those, the ones whose required nodes are not there
    std::set<std::uint32_t> misunderstood_;      // and the ones with a wish nobody knows
    std::uint64_t understood_{~std::uint64_t{0}};
    std::vector<std::uint32_t> changed_nodes_, new_pending_, new_running_, gone_pending_, gone_running_;
    bool changes_complete_{false};
    std::set<UnixSeconds> alarms_;
    std::uint64_t seen_number_{0};  // of the view the last cycle saw
    spur_view_changes change_record_{};
    spur_cluster_view view_{};
};

}  // namespace spur::planning

// Snapshots: records one after the other, each a kind, a length and its fields. Scripts, environments and requests that
// are equal are written once, by content, so equal states give equal bytes however they came about.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/base/sha256.hpp"
#include "core/machine/cluster.hpp"
#include "core/machine/cluster_ops.hpp"
#include "core/store/config_fields.hpp"
#include "core/store/fields.hpp"

namespace spur {

namespace {

constexpr std::string_view magic = "SPURSNAP1\n";
constexpr std::size_t piece_size = 64 * 1024;

// Numbers of the kinds of records; append only.
enum Kind : std::uint64_t {
    kind_meta = 1,
    kind_config,
    kind_node,
    kind_partition,
    kind_reservation,
    kind_license,
    kind_account,
    kind_user,
    kind_association,
    kind_qos,
    kind_blob,
    kind_spec,
    kind_job,
    kind_array,
    kind_step,
    kind_request,
    kind_end,
    kind_outbox,
    kind_history,
    kind_open_event,
};

struct Meta {
    std::uint64_t version{};
    UnixSeconds now{};
    std::uint32_t next_job_id{1};
    std::uint32_t next_association_id{1};
    std::uint32_t next_qos_id{1};
    UnixSeconds usage_time{};
    std::uint64_t next_outbox{1};
    std::uint32_t state_version{first_state_version};
    std::uint64_t config_generation{};
    std::vector<Text> config_digests;
    bool outbox_is_read{false};
};
constexpr std::uint32_t state_version_field = 8;
struct StoredLicense {
    Text name;
    std::uint32_t total{};
    std::uint32_t used{};
};
// A request whose script and environment are blobs, by number from 1; 0: none.
struct StoredSpec {
    JobSpec spec;
    std::uint32_t script{};
    std::uint32_t environment{};
};
struct StoredRequest {
    Text id;
    JobId job;
    UnixSeconds time{};
};
struct StoredEntry {
    std::uint64_t sequence{};
    OutboxKind kind{OutboxKind::job_ended};
    UnixSeconds at{};
    std::uint32_t spec{};  // by number from 1
    Job job;
    std::shared_ptr<const Step> step;
    std::shared_ptr<const NodeEvent> event;
    std::shared_ptr<const AccountsChange> change;
    std::shared_ptr<const Reservation> reservation;
};
struct End {
    std::uint64_t records{};
};

}  // namespace

namespace archive {
template <>
inline constexpr auto fields_of<Meta> =
    numbered(&Meta::version, &Meta::now, &Meta::next_job_id, &Meta::next_association_id, &Meta::next_qos_id,
             &Meta::usage_time, &Meta::next_outbox, since<2>(&Meta::state_version), since<2>(&Meta::config_generation),
             since<2>(&Meta::config_digests), since<3>(&Meta::outbox_is_read));
static_assert(number_of(&Meta::state_version) == state_version_field);
template <>
inline constexpr auto fields_of<StoredLicense> =
    numbered(&StoredLicense::name, &StoredLicense::total, &StoredLicense::used);
template <>
inline constexpr auto fields_of<StoredSpec> =
    numbered(&StoredSpec::spec, &StoredSpec::script, &StoredSpec::environment);
template <>
inline constexpr auto fields_of<StoredRequest> =
    numbered(&StoredRequest::id, &StoredRequest::job, &StoredRequest::time);
template <>
inline constexpr auto fields_of<NodeEvent> =
    numbered(&NodeEvent::node, &NodeEvent::start, &NodeEvent::end, &NodeEvent::state, &NodeEvent::reason,
             &NodeEvent::reason_uid, &NodeEvent::tres);

template <>
inline constexpr auto fields_of<AccountsChange> =
    numbered(&AccountsChange::actor, &AccountsChange::number, &AccountsChange::action, &AccountsChange::subject,
             &AccountsChange::change);
template <>
inline constexpr auto fields_of<StoredEntry> =
    numbered(&StoredEntry::sequence, &StoredEntry::kind, &StoredEntry::at, &StoredEntry::spec, &StoredEntry::job,
             &StoredEntry::step, since<3>(&StoredEntry::event), since<3>(&StoredEntry::change),
             since<3>(&StoredEntry::reservation));
template <>
inline constexpr auto fields_of<End> = numbered(&End::records);
}  // namespace archive

namespace {

class Saver {
public:
    Saver(const ByteSink& sink, std::uint32_t version) : sink_{sink}, version_{version} { buffer_.append(magic); }

    template <class T>
    void add(Kind kind, const T& record) {
        raw(kind, [&](archive::Writer& out) { archive::write_body(out, record); });
    }

    template <class F>
    void raw(Kind kind, F&& body) {
        archive::Writer out{buffer_, version_};
        out.varint(kind);
        out.sized([&] { body(out); });
        note(out, kind);
        ++records_;
        if (buffer_.size() >= piece_size) flush();
    }

    void add_job(const Job& job) {
        const auto spec = number_of(job.spec);
        raw(kind_job, [&](archive::Writer& out) {
            out.varint(spec);
            archive::write_body(out, job);
        });
    }

    void add_entry(const OutboxEntry& entry) {
        add(kind_outbox,
            StoredEntry{entry.sequence, entry.kind, entry.at, entry.job ? number_of(entry.job->spec) : 0,
                        entry.job ? *entry.job : Job{}, entry.step, entry.event, entry.change, entry.reservation});
    }

    Result<void> finish() {
        add(kind_end, End{records_});
        flush();
        if (problem_) return std::unexpected(*problem_);
        return {};
    }

private:
    void note(const archive::Writer& out, Kind kind) {
        if (!out.problem().empty() && !problem_)
            problem_ = Error{ErrorCode::invalid, fmt::format("record {} of the snapshot (kind {}) cannot be stored: {}",
                                                             records_ + 1, static_cast<unsigned>(kind), out.problem())};
    }

    void flush() {
        sink_(buffer_);
        buffer_.clear();
    }

    std::uint32_t number_of(const Text& blob) {
        if (blob.empty()) return 0;
        const auto [place, is_new] = blobs_.try_emplace(blob, static_cast<std::uint32_t>(blobs_.size() + 1));
        if (is_new) add(kind_blob, blob);
        return place->second;
    }

    std::uint32_t number_of(const std::shared_ptr<const JobSpec>& spec) {
        if (const auto place = seen_.find(spec.get()); place != seen_.end()) return place->second;
        StoredSpec stored{*spec, number_of(spec->script), number_of(spec->environment)};
        stored.spec.script = stored.spec.environment = {};
        std::string bytes;
        archive::Writer out{bytes, version_};
        archive::write_body(out, stored);
        note(out, kind_spec);
        const auto [place, is_new] = specs_.try_emplace(sha256(bytes), static_cast<std::uint32_t>(specs_.size() + 1));
        if (is_new) raw(kind_spec, [&](archive::Writer& writer) { writer.bytes(bytes); });
        seen_[spec.get()] = place->second;
        return place->second;
    }

    const ByteSink& sink_;
    std::uint32_t version_;  // of the state that is in force
    std::optional<Error> problem_;
    std::string buffer_;
    std::uint64_t records_{};
    std::unordered_map<Text, std::uint32_t> blobs_;
    std::map<Digest, std::uint32_t> specs_;
    std::unordered_map<const JobSpec*, std::uint32_t> seen_;
};

}  // namespace

struct ClusterSnapshot {
    static Result<void> save(const Cluster& c, const ByteSink& sink) {
        Saver out{sink, c.state_version_};
        out.add(kind_meta,
                Meta{c.version_, c.now_, c.next_job_id_, c.next_association_id_, c.next_qos_id_, c.usage_time_,
                     c.next_outbox_, c.state_version_, c.config_generation_, c.config_digests_, c.outbox_is_read_});
        out.add(kind_config, *c.config_);
        for (const auto& node : c.nodes_) out.add(kind_node, node);
        for (const auto& [name, partition] : c.partitions_) out.add(kind_partition, partition);
        for (const auto& [name, reservation] : c.reservations_) out.add(kind_reservation, reservation);
        for (const auto& [name, pool] : c.licenses_) out.add(kind_license, StoredLicense{name, pool.total, pool.used});
        for (const auto& [name, account] : c.accounts_) out.add(kind_account, account);
        for (const auto& [name, user] : c.users_) out.add(kind_user, user);
        for (const auto& [id, association] : c.associations_) out.add(kind_association, association);
        for (const auto& [name, qos] : c.qos_) out.add(kind_qos, qos);
        for (const auto& [id, array] : c.arrays_) out.add(kind_array, array);
        for (const auto& [id, job] : c.jobs_) out.add_job(job);
        for (const auto& [key, step] : c.steps_) out.add(kind_step, step);
        for (const auto& [id, request] : c.requests_)
            out.add(kind_request, StoredRequest{id, request.first, request.second});
        for (const auto& entry : c.outbox_) out.add_entry(entry);
        for (const auto& [node, event] : c.open_events_) out.add(kind_open_event, event);
        if (!(c.history_ == History{})) out.add(kind_history, c.history_);
        return out.finish();
    }

    explicit ClusterSnapshot(Cluster& cluster) : c{cluster} {}

    Result<void> load(std::string_view bytes) {
        if (!bytes.starts_with(magic))
            return fail(ErrorCode::corrupt, "the snapshot does not begin like one of Spur's");
        archive::Reader in{bytes.substr(magic.size())};
        std::uint64_t records = 0;
        for (; !in.empty(); ++records) {
            std::uint64_t kind = 0;
            std::string_view body;
            if (!in.varint(kind) || !in.sized(body))
                return fail(ErrorCode::corrupt, "the snapshot ends in the middle of record {}", records + 1);
            if (kind == kind_end) {
                End end;
                if (!archive::read_body(archive::Reader{body}, end) || end.records != records || !in.empty())
                    return fail(ErrorCode::corrupt, "the snapshot says it has {} records and has {}", end.records,
                                records);
                return {};
            }
            if (kind == kind_meta) SPUR_CHECK(check_version(body));
            if (!take(kind, body))
                return fail(ErrorCode::corrupt,
                            "record {} of the snapshot (kind {}) is not as this release knows it; it was written by a "
                            "newer one, or is damaged",
                            records + 1, kind);
        }
        return fail(ErrorCode::corrupt, "the snapshot ends after record {} without its last one", records);
    }

private:
    template <class Map, class Key>
    static bool take_into(Map& map, Key key, std::string_view body) {
        typename Map::mapped_type record{};
        if (!archive::read_body(archive::Reader{body}, record)) return false;
        const auto place = record.*key;
        map.insert_or_assign(place, std::move(record));
        return true;
    }

    static Result<void> check_version(std::string_view meta) {
        const auto version = archive::find_number(meta, state_version_field).value_or(first_state_version);
        if (version <= newest_state_version) return {};
        return fail(ErrorCode::corrupt,
                    "the snapshot has version {} of the state and this release knows versions up to {}; install the "
                    "release that wrote it",
                    version, newest_state_version);
    }

    bool take(std::uint64_t kind, std::string_view body) {
        switch (kind) {
            case kind_meta:
                return take_meta(body);
            case kind_config:
                if (!archive::read_body(archive::Reader{body}, *c.config_)) return false;
                c.policies_ = c.config_->policies;
                c.cluster_name_ = c.config_->cluster_name;
                return true;
            case kind_node:
                return take_node(body);
            case kind_partition:
                return take_into(c.partitions_, &Partition::name, body);
            case kind_reservation:
                return take_into(c.reservations_, &Reservation::name, body);
            case kind_license: {
                StoredLicense license;
                if (!archive::read_body(archive::Reader{body}, license)) return false;
                c.licenses_[license.name] = {license.total, license.used};
                return true;
            }
            case kind_account:
                return take_into(c.accounts_, &Account::name, body);
            case kind_user:
                return take_into(c.users_, &User::name, body);
            case kind_qos:
                return take_into(c.qos_, &Qos::name, body);
            case kind_association:
                return take_into(c.associations_, &Association::id, body);
            case kind_blob:
                blobs_.emplace_back(body);
                return true;
            case kind_spec:
                return take_spec(body);
            case kind_job:
                return take_job(body);
            case kind_array:
                return take_into(c.arrays_, &Array::id, body);
            case kind_step:
                return take_into(c.steps_, &Step::key, body);
            case kind_request: {
                StoredRequest record;
                if (!archive::read_body(archive::Reader{body}, record)) return false;
                c.requests_[record.id] = {record.job, record.time};
                return true;
            }
            case kind_outbox:
                return take_entry(body);
            case kind_open_event:
                return take_into(c.open_events_, &NodeEvent::node, body);
            case kind_history:
                return archive::read_body(archive::Reader{body}, c.history_);
            default:
                return false;  // of a newer release: what it holds would be lost here
        }
    }

    bool take_meta(std::string_view body) {
        Meta meta;
        if (!archive::read_body(archive::Reader{body}, meta)) return false;
        c.version_ = meta.version;
        c.now_ = meta.now;
        c.next_job_id_ = meta.next_job_id;
        c.next_association_id_ = meta.next_association_id;
        c.next_qos_id_ = meta.next_qos_id;
        c.usage_time_ = meta.usage_time;
        c.next_outbox_ = meta.next_outbox;
        c.state_version_ = meta.state_version;
        c.config_generation_ = meta.config_generation;
        c.config_digests_ = std::move(meta.config_digests);
        c.outbox_is_read_ = meta.outbox_is_read;
        return true;
    }

    bool take_node(std::string_view body) {
        Node node;
        if (!archive::read_body(archive::Reader{body}, node) || node.id.value != c.nodes_.size()) return false;
        c.nodes_.push_back(std::move(node));
        return true;
    }

    bool take_spec(std::string_view body) {
        StoredSpec stored;
        if (!archive::read_body(archive::Reader{body}, stored)) return false;
        if (stored.script > blobs_.size() || stored.environment > blobs_.size()) return false;
        if (stored.script) stored.spec.script = blobs_[stored.script - 1];
        if (stored.environment) stored.spec.environment = blobs_[stored.environment - 1];
        auto spec = std::make_shared<const JobSpec>(std::move(stored.spec));
        auto request = std::make_shared<const Request>(Request::of(*spec));
        if (!asked_.empty() && *asked_.back().request == *request) request = asked_.back().request;
        asked_.push_back({std::move(spec), std::move(request)});
        return true;
    }

    bool take_job(std::string_view body) {
        archive::Reader in{body};
        std::uint64_t spec = 0;
        if (!in.varint(spec) || spec == 0 || spec > asked_.size()) return false;
        Job job;
        if (!archive::read_body(in, job) || !is_sound(job)) return false;
        job.spec = asked_[spec - 1].spec;
        job.request = asked_[spec - 1].request;
        c.blobs_.add(job.spec->script, job.spec->uid);
        c.blobs_.add(job.spec->environment, job.spec->uid);
        c.jobs_.insert_or_assign(c.jobs_.end(), job.id, std::move(job));
        return true;
    }

    bool take_entry(std::string_view body) {
        StoredEntry stored;
        if (!archive::read_body(archive::Reader{body}, stored) || stored.spec > asked_.size()) return false;
        if (has_job(stored.kind) != (stored.spec != 0)) return false;
        auto& entry = c.outbox_.emplace_back(OutboxEntry{stored.sequence, stored.kind, stored.at});
        entry.step = std::move(stored.step);
        entry.event = std::move(stored.event);
        entry.change = std::move(stored.change);
        entry.reservation = std::move(stored.reservation);
        if (stored.spec == 0) return true;
        stored.job.spec = asked_[stored.spec - 1].spec;
        stored.job.request = asked_[stored.spec - 1].request;
        entry.job = std::make_shared<Job>(std::move(stored.job));
        return true;
    }

    // What the indexes rely on.
    bool is_sound(const Job& job) const {
        if (static_cast<std::uint8_t>(job.state) >= job_state_count) return false;
        if ((job.is_active() || job.is_completing() || !job.leaving.empty()) && !job.allocation) return false;
        if (!job.allocation) return job.open_shares.empty();
        for (const auto open : job.open_shares)
            if (open >= job.allocation->shares.size()) return false;
        const auto is_node = [&](const NodeShare& share) { return share.node.value < c.nodes_.size(); };
        return std::ranges::all_of(job.allocation->shares, is_node) && std::ranges::all_of(job.leaving, is_node);
    }

    Cluster& c;
    std::vector<Text> blobs_;
    struct Asked {
        std::shared_ptr<const JobSpec> spec;
        std::shared_ptr<const Request> request;
    };
    std::vector<Asked> asked_;
};

Result<void> Cluster::save(const ByteSink& sink) const { return ClusterSnapshot::save(*this, sink); }

Result<Cluster> Cluster::load(std::string_view snapshot) {
    Cluster cluster;
    SPUR_CHECK(ClusterSnapshot{cluster}.load(snapshot));
    for (const auto& [name, partition] : cluster.partitions_)
        for (const auto id : partition.nodes)
            if (id.value >= cluster.nodes_.size())
                return fail(ErrorCode::corrupt, "partition {} of the snapshot has a node that is not there", name);
    for (const auto& [name, reservation] : cluster.reservations_)
        for (const auto id : reservation.nodes)
            if (id.value >= cluster.nodes_.size())
                return fail(ErrorCode::corrupt, "reservation {} of the snapshot has a node that is not there", name);
    ClusterOps ops{cluster, cluster.now_, cluster.version_, {}};
    ops.index_nodes();
    ops.index_associations();
    for (auto& [id, job] : cluster.jobs_) ops.index_job(job);
    for (auto& node : cluster.nodes_) ops.rebuild_use(node);
    for (const auto& [id, request] : cluster.requests_) cluster.index_->request_times.insert({request.second, id});
    ops.recount();
    return cluster;
}

}  // namespace spur

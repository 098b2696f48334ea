// The laws of spur.job_submit/1.
#include "case.hpp"
#include "dice.hpp"
#include "instance.hpp"

#include <spur/plugin/draft/job_submit.h>

#include <algorithm>
#include <deque>

namespace spur::check {
namespace {

const spur_job_submit_ops& ops_of(Instance& instance) {
    return instance.ops<spur_job_submit_ops>(SPUR_JOB_SUBMIT_IFACE);
}

// A job of a few fields, some of which can be changed; remembers what was.
class FakeJob {
public:
    FakeJob(Dice& dice, Shape shape) : memory_(shape) {
        add("name", SPUR_VALUE_TEXT, true, text("train"));
        add("job_id", SPUR_VALUE_NUMBER, false, {});
        add("partition", SPUR_VALUE_TEXT, true, dice.one_in(2) ? text("main") : spur_value{});
        add("time_limit", SPUR_VALUE_SECONDS, true, dice.one_in(2) ? seconds(3600) : spur_value{});
        add("comment", SPUR_VALUE_TEXT, true, {});
        record_ = memory_.one(spur_record{
            .size = 0,
            .kind = SPUR_RECORD_JOB,
            .context = this,
            .count = [](auto* record) { return static_cast<std::uint32_t>(self(record).fields_.size()); },
            .find = [](auto* record, spur_str name) -> std::uint32_t {
                const auto& all = self(record).fields_;
                const auto found = std::ranges::find(all, plugin::view(name), &Field::name);
                return found == all.end() ? SPUR_NONE : static_cast<std::uint32_t>(found - all.begin());
            },
            .describe = [](auto* record, std::uint32_t number, spur_record_field* out) -> spur_status {
                const auto* field = self(record).find(number);
                if (field == nullptr) return SPUR_E_NOT_FOUND;
                plugin::put(
                    out, {0, field->kind, field->writable ? SPUR_RECORD_WRITABLE : 0, 0, plugin::str(field->name)});
                return SPUR_OK;
            },
            .get = [](auto* record, std::uint32_t number, spur_value* out) -> spur_status {
                const auto* field = self(record).find(number);
                if (field == nullptr) return SPUR_E_NOT_FOUND;
                plugin::put(out, field->value);
                return SPUR_OK;
            },
            .set = [](auto* record, std::uint32_t number, const spur_value* value, spur_error* err) -> spur_status {
                auto* field = self(record).find(number);
                if (field == nullptr) return SPUR_E_NOT_FOUND;
                if (!field->writable) return plugin::fail(err, SPUR_SET_READ_ONLY, "cannot be changed");
                self(record).put(*field, *value);
                return SPUR_OK;
            }});
    }
    FakeJob(const FakeJob&) = delete;
    FakeJob& operator=(const FakeJob&) = delete;

    const spur_record* get() const { return record_; }
    std::string changes;  // in the order in which they were made

private:
    struct Field {
        std::string name;
        std::uint32_t kind;
        bool writable;
        spur_value value;
    };
    static FakeJob& self(const spur_record* record) { return *static_cast<FakeJob*>(record->context); }
    Field* find(std::uint32_t number) { return number < fields_.size() ? &fields_[number] : nullptr; }
    void add(const char* name, std::uint32_t kind, bool writable, spur_value value) {
        fields_.push_back({name, kind, writable, value});
    }
    spur_value text(std::string_view words) {
        spur_value value{};
        value.kind = SPUR_VALUE_TEXT;
        value.text = plugin::str(texts_.emplace_back(words));
        return value;
    }
    static spur_value seconds(std::int64_t number) {
        spur_value value{};
        value.kind = SPUR_VALUE_SECONDS;
        value.number = number;
        return value;
    }
    void put(Field& field, const spur_value& value) {
        field.value = value.kind == SPUR_VALUE_TEXT ? text(plugin::view(value.text)) : value;
        changes += fmt::format("{}={}/{}/{}\n", field.name, value.kind, value.number, plugin::view(field.value.text));
    }

    Memory memory_;
    std::vector<Field> fields_;
    std::deque<std::string> texts_;
    const spur_record* record_;
};

struct Outcome {
    spur_status verdict;
    std::string sentence, changes;
    bool operator==(const Outcome&) const = default;
};

Outcome submit(Instance& instance, Dice dice, Shape shape = {}, bool has_partitions = true) {
    FakeJob job(dice, shape);
    Memory memory(shape);
    const std::vector<spur_submit_partition> partitions{{memory.str("main"), SPUR_SUBMIT_DEFAULT, 0},
                                                        {memory.str("gpu"), 0, 0}};
    plugin::StringSink notes;
    const spur_stop never{sizeof(spur_stop), -1, INT64_MAX, nullptr, [](const spur_stop*) { return 0U; }};
    const auto* context = memory.one(
        spur_submit{.size = 0,
                    .uid = 1000,
                    .gid = 1000,
                    .reserved = 0,
                    .user = memory.str("ada"),
                    .partitions = has_partitions ? memory.span(partitions) : plugin::span_of(partitions.data(), 0),
                    .notes = notes.get(),
                    .stop = &never});
    ErrorBox err(shape);
    doing("in submit()");
    const auto verdict = ops_of(instance).submit(instance.self(), context, job.get(), err.get());
    if (verdict != SPUR_SUBMIT_REFUSED) expect_ok("submit()", verdict, err);
    require(verdict == SPUR_OK || !err.sentence().empty(), "submit() refuses a job without a sentence for its user");
    return {verdict, err.sentence(), job.changes};
}

void exercise(const Subject& subject, Instance& instance, const Shape& shape) {
    submit(instance, Dice(subject.seed), shape);
}

std::string answers(const Subject& subject) {
    Bench bench(subject), other(subject);
    unsigned refused = 0;
    for (unsigned i = 0; i < 16; ++i) {
        const Dice dice(subject.seed + i);
        const auto once = submit(bench.instance(), dice);
        refused += once.verdict == SPUR_SUBMIT_REFUSED;
        require(once == submit(bench.instance(), dice), "the same job gets two answers (seed {})", subject.seed + i);
        require(once == submit(other.instance(), dice), "two instances give the same job two answers (seed {})",
                subject.seed + i);
        submit(bench.instance(), dice, {}, false);
    }
    bench.finish();
    other.finish();
    return fmt::format("{} of 16 refused", refused);
}

constexpr RequiredOp required[] = {{"submit", offsetof(spur_job_submit_ops, submit)}};
constexpr Case laws[] = {
    {"submit", "the same job gets the same answer, and a refusal has a sentence", &answers},
};

}  // namespace

extern const Axis job_submit_axis;
const Axis job_submit_axis{"job_submit", "spurctld", SPUR_JOB_SUBMIT_IFACE, first_size<spur_job_submit_ops>, required,
                           laws,         &exercise};

}  // namespace spur::check

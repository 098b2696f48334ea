// Array specifications, job ids and dependencies: what is printed reads back the same.
#include "core/model/array_spec.hpp"
#include "core/model/dependency.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace spur;
    const auto text = as_text(data, size);
    if (const auto spec = ArraySpec::parse(text)) {
        must(ArraySpec::parse(spec->str()) == *spec);
        must(TaskSet::from_runs(spec->tasks.runs()).has_value());
        for (const std::size_t room : {0, 1, 5, 64}) (void)spec->elided(room);
    }
    if (const auto ref = JobRef::parse(text); ref && ref->tasks.size() < 5'000) must(JobRef::parse(ref->str()) == *ref);
    (void)parse_job_refs(text);
    if (const auto list = DependencyList::parse(text)) {
        const auto again = DependencyList::parse(list->str());
        must(again && again->entries == list->entries);
    }
    return 0;
}

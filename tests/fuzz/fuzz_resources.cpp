// Generic resources, trackable resources and feature constraints.
#include "core/model/constraint.hpp"
#include "core/model/gres.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace spur;
    const auto text = as_text(data, size);
    if (const auto gres = parse_gres(text)) must(parse_gres(print_gres(*gres)) == *gres);
    (void)parse_gres(gres_of_gpus(text));
    (void)print_typed_gres(text);
    if (const auto tres = TresList::parse(text)) (void)tres->str();
    if (const auto constraint = Constraint::parse(text)) {
        const auto again = Constraint::parse(constraint->str());
        must(again && again->str() == constraint->str());
        (void)constraint->matches([](std::string_view feature) { return feature.size() % 2 == 0; });
        (void)constraint->counts();
        (void)constraint->alternatives();
    }
    return 0;
}

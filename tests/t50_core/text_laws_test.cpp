// The small grammars: what is printed reads back the same, and any bytes are read or refused.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/model/constraint.hpp"
#include "core/model/dependency.hpp"
#include "core/model/gres.hpp"
#include "core/slurm/signal.hpp"
#include "core/text/pattern.hpp"

namespace spur {
namespace {

std::string text_of(std::initializer_list<std::string> pieces) {
    std::string text;
    for (const auto& piece :
         *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(std::vector<std::string>{pieces})))
        text += piece;
    return text;
}

RC_GTEST_PROP(T50TextLaws, GresReadsBackTheSame, ()) {
    const auto text = text_of({"gpu", "shard", ":", ",", "a100", "2", "1k", "gres/", "gres:", " ", "none"});
    if (const auto list = parse_gres(text)) RC_ASSERT(parse_gres(print_gres(*list)).value() == *list);
    (void)print_typed_gres(text);
    (void)gres_of_gpus(text);
}

RC_GTEST_PROP(T50TextLaws, TresReadsBackTheSame, ()) {
    const auto text = text_of({"cpu", "mem", "node", "gres/gpu", ":a100", "=", ",", "4", "16G", "100M", " "});
    const auto list = TresList::parse(text);
    if (list && !list->str().contains('.')) RC_ASSERT(TresList::parse(list->str()).value() == *list);
}

RC_GTEST_PROP(T50TextLaws, DependenciesReadBackTheSame, ()) {
    const auto text =
        text_of({"afterok", "after", "singleton", "aftercorr", ":", "12", "13_4", "_*", "_[1-2]", "+10", ",", "?"});
    const auto list = DependencyList::parse(text);
    if (!list) return;
    auto again = DependencyList::parse(list->str()).value();
    again.any = list->any;  // a '?' beside a single entry leaves no trace
    RC_ASSERT(again == *list);
}

RC_GTEST_PROP(T50TextLaws, ConstraintsReadBackTheSame, ()) {
    const auto text = text_of({"a", "b", "c", "&", "|", "*2", "(", ")", "[", "]", ","});
    const auto constraint = Constraint::parse(text);
    if (!constraint) return;
    RC_ASSERT(Constraint::parse(constraint->str()).value().str() == constraint->str());
    for (const bool has : {false, true}) (void)constraint->matches([&](std::string_view) { return has; });
}

RC_GTEST_PROP(T50TextLaws, PatternsAndSignalsTakeAnyBytes, ()) {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::element('%', 'j', 'J', '4', '\\', 'a', 'N', '@', ':', 'B', 'U', '/', '\0', '\xff'));
    (void)expand_path(text, {.job = 7, .node = "n", .user = "u", .job_name = "x"}, "/tmp");
    if (const auto warning = WarningSignal::parse(text))
        RC_ASSERT(WarningSignal::parse(warning->str()).value() == *warning);
}

}  // namespace
}  // namespace spur

// A host that speaks two majors of an axis: the newest that both sides know is used, and an older one is called through
// an adapter.
#include <gtest/gtest.h>
#include <spur/plugin/plugin.hpp>

#include "tests/host/fixture.hpp"
#include "tests/host/plugins/greet.h"

namespace spur::host {
namespace {

struct GreetAxis {
    using Ops = greet_ops_2;
    static const AxisInfo info;
};

// The second release's table in front of the first release's plugin.
struct Adapted final : Adapter {
    Adapted(const void* table, spur_plugin* plugin) : older{*static_cast<const greet_ops_1*>(table)}, inner{plugin} {
        ops = &newest;
        self = reinterpret_cast<spur_plugin*>(this);
    }
    static spur_status greet(spur_plugin* self, const char* whom, const spur_sink* text, spur_error* err) {
        const auto& adapted = *reinterpret_cast<const Adapted*>(self);
        plugin::push(text, whom);
        plugin::push(text, ": ");
        return adapted.older.hello(adapted.inner, text, err);
    }
    static constexpr greet_ops_2 newest{sizeof(greet_ops_2), 0, greet};
    greet_ops_1 older;
    spur_plugin* inner;
};

constexpr std::array first_ops{OpInfo{"hello", offsetof(greet_ops_1, hello), true, Role::any}};
constexpr std::array second_ops{OpInfo{"greet", offsetof(greet_ops_2, greet), true, Role::any}};
constexpr std::array older{
    OlderInterface{GREET_IFACE_1, first_ops, [](const void* ops, spur_plugin* self) -> std::unique_ptr<Adapter> {
                       return std::make_unique<Adapted>(ops, self);
                   }}};
constexpr std::array<std::string_view, 0> no_defaults{};
const AxisInfo GreetAxis::info{.name = "greet",
                               .interface = GREET_IFACE_2,
                               .ops = second_ops,
                               .defaults = no_defaults,
                               .has_safe_defaults = false,
                               .several = false,
                               .swaps_live = true,
                               .is_policy = false,
                               .older = older};

Result<Bound<GreetAxis>> opened(PluginHost& host, const std::string& type) {
    return host.open<GreetAxis>(config_with({{"greet", {type}}}));
}

std::string greeting(const std::string& type) {
    PluginHost host{test_options()};
    const auto bound = opened(host, type);
    if (!bound) return bound.error().text;
    plugin::StringSink text;
    const auto greeted = bound->call(&greet_ops_2::greet, "Ada", text.get());
    return greeted ? text.text : greeted.error().text;
}

TEST(Interfaces, APluginOfAnEarlierMajorIsCalledThroughAnAdapter) {
    EXPECT_EQ(greeting("greet/first"), "Ada: hello from 1");
}

TEST(Interfaces, OfTwoThatBothSidesSpeakTheNewerIsUsed) { EXPECT_EQ(greeting("greet/both"), "Ada, hello from 2"); }

TEST(Interfaces, ALaterMajorThanTheHostsIsRefusedWithAllThatTheHostSpeaks) {
    EXPECT_EQ(greeting("greet/third"),
              "plugin greet/third refused: it speaks spur.greet/3, this spurtest speaks spur.greet/2 and spur.greet/1; "
              "install a release of the plugin for Spur 1.x");
}

}  // namespace
}  // namespace spur::host

#include "tests/support/engine_rig.hpp"

#include <algorithm>

namespace spur::testing {

EngineRig::EngineRig(const std::function<void(FakeLog&)>& prepare) {
    auto owned = std::make_unique<FakeLog>();
    log = owned.get();
    if (prepare) prepare(*log);
    engine = std::make_unique<ctld::Engine>(
        std::move(owned), [this] { return now.load(); },
        [this](std::string text) {
            const std::lock_guard lock{mutex_};
            warnings_.push_back(std::move(text));
        });
    engine->on_fatal([this](std::string why) {
        const std::lock_guard lock{mutex_};
        fatal_ = std::move(why);
    });
}

EngineRig::~EngineRig() { engine->stop(); }

void EngineRig::start() {
    if (const auto started = engine->start(); !started) throw std::runtime_error{started.error().text};
    settle();
}

Result<Events> EngineRig::propose(Command command) {
    const auto promise = std::make_shared<std::promise<Result<Events>>>();
    auto outcome = promise->get_future();
    engine->propose(std::move(command), [promise](const Result<Events>& result) { promise->set_value(result); });
    return outcome.get();
}

void EngineRig::settle() {
    for (int i = 0; i < 3; ++i) look([](const Cluster&) {});
}

void EngineRig::look(const std::function<void(const Cluster&)>& look) {
    std::promise<void> done;
    engine->post([&] {
        look(engine->cluster());
        done.set_value();
    });
    done.get_future().get();
}

std::string EngineRig::snapshot() {
    std::string bytes;
    look([&](const Cluster& cluster) { bytes = snapshot_of(cluster); });
    return bytes;
}

std::vector<std::string> EngineRig::warnings() const {
    const std::lock_guard lock{mutex_};
    return warnings_;
}

bool EngineRig::has_warning(std::string_view part) const {
    const auto all = warnings();
    return std::ranges::any_of(all, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

std::string EngineRig::fatal() const {
    const std::lock_guard lock{mutex_};
    return fatal_;
}

}  // namespace spur::testing

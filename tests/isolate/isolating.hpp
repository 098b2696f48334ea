// A host whose plugins live in processes of their own, in a hurry.
#pragma once

#include "daemons/common/isolate/process.hpp"
#include "tests/host/fixture.hpp"

namespace spur::host {

inline isolate::Patience hurried() {
    using namespace std::chrono_literals;
    isolate::Patience patience;
    patience.call = 500ms;
    patience.silence = 500ms;
    patience.grace = 200ms;
    patience.again = 5000ms;
    patience.first_pause = 10ms;
    return patience;
}

inline HostOptions isolating(isolate::Patience patience = hurried()) {
    auto options = test_options();
    options.isolate = isolate::isolator(SPUR_PLUGIN_CHILD, patience);
    return options;
}

}  // namespace spur::host

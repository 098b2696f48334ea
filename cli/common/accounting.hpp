// Where history is asked for.
#pragma once

#include "cli/common/session.hpp"

namespace spur::cli {

// A channel to spurdbd: where SPUR_ACCOUNTING_ADDR or the configuration say it is, or else the controller.
Answer<wire::Channel> open_accounting(Session& session);

}  // namespace spur::cli

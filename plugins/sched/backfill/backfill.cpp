// One plan: update the cards, run a pass.
#include "backfill.hpp"

#include "pass.hpp"

namespace spur::backfill {

spur_status Backfill::plan(const spur_cluster_view& view, const spur_selector& select, const spur_plan_sink& sink,
                           spur_error* err) {
    const bool complete = std::exchange(complete_, false);
    workshop_.cards.update(view, complete);
    workshop_.reserved.begin(view);
    if (const auto status = workshop_.timeline.begin(view, select, err); status != SPUR_OK) return status;
    struct Closer {
        Timeline& timeline;
        ~Closer() { timeline.close(); }
    } closer{workshop_.timeline};
    complete_ = Pass{view, sink, options_, workshop_}.run();
    return SPUR_OK;
}

}  // namespace spur::backfill

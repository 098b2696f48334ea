/* The function that abi_bench calls directly and through the ABI: looks at the first and the last waiting job of a view. */
#include <spur/plugin/sched.h>

static __attribute__((noinline)) spur_status bench_plan(spur_plugin *self, const spur_cluster_view *view,
                                                        const spur_selector *select, const spur_plan_sink *sink,
                                                        spur_error *err) {
    (void)self, (void)select, (void)sink, (void)err;
    const uint32_t count = view->pending_order.count;
    if (count == 0) return SPUR_OK;
    const uint32_t first = *SPUR_AT(uint32_t, view->pending_order, 0);
    const uint32_t last = *SPUR_AT(uint32_t, view->pending_order, count - 1);
    return SPUR_AT(spur_job_view, view->pending, first)->id == 0 || SPUR_AT(spur_job_view, view->pending, last)->id == 0;
}

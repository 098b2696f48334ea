// @TYPE@ - the boundary. The policy itself is in whole_nodes.rs.
mod spur;
mod sugar;
mod whole_nodes;

use spur::*;
use sugar::*;
use whole_nodes::{WholeNodes, SLOTS};

/// All there is to know is in the cycle; a byte makes instances tell apart.
struct Selector {
    _nothing: u8,
}

/// For as long as the caller's own variable: no longer than the call.
unsafe fn cycle_of<'a>(cycle: &'a mut *mut spur_select_cycle) -> &'a mut WholeNodes<'a> {
    &mut *(*cycle as *mut WholeNodes)
}

unsafe extern "C" fn begin(
    _this: *mut spur_plugin,
    view: *const spur_cluster_view,
    out: *mut *mut spur_select_cycle,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        *out = Box::into_raw(Box::new(WholeNodes::new(&*view))) as *mut spur_select_cycle;
        Ok(SPUR_OK)
    })
}
unsafe extern "C" fn end(_this: *mut spur_plugin, cycle: *mut spur_select_cycle) {
    caught((), || drop(Box::from_raw(cycle as *mut WholeNodes)))
}
unsafe extern "C" fn slots(_cycle: *mut spur_select_cycle) -> u32 {
    SLOTS
}
unsafe extern "C" fn copy(mut cycle: *mut spur_select_cycle, from: u32, to: u32) -> spur_status {
    if from >= SLOTS || to >= SLOTS {
        return SPUR_E_INVALID;
    }
    caught(SPUR_E_INTERNAL, || {
        cycle_of(&mut cycle).copy(from, to);
        SPUR_OK
    })
}
unsafe extern "C" fn take(mut cycle: *mut spur_select_cycle, slot: u32, placement: *const spur_placement, _job_flags: u32) {
    caught((), || cycle_of(&mut cycle).book(slot, placement, 1))
}
unsafe extern "C" fn give(mut cycle: *mut spur_select_cycle, slot: u32, placement: *const spur_placement, _job_flags: u32) {
    caught((), || cycle_of(&mut cycle).book(slot, placement, -1))
}
unsafe extern "C" fn pick(
    mut cycle: *mut spur_select_cycle,
    pick: *const spur_pick,
    out: *mut spur_placement,
) -> spur_status {
    guard(std::ptr::null_mut(), || Ok(cycle_of(&mut cycle).pick(&*pick, out.as_mut())))
}

unsafe extern "C" fn create(
    _host: *const spur_host,
    _config: *const spur_config,
    out: *mut *mut spur_plugin,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || Ok(hand_over(Selector { _nothing: 0 }, out)))
}
unsafe extern "C" fn destroy(this: *mut spur_plugin) {
    take_back::<Selector>(this)
}

static OPS: Shared<spur_select_ops> = Shared(spur_select_ops {
    size: size_of::<spur_select_ops>(),
    understands: SPUR_WISH_GRES, // jobs that ask for more wait and say for whom
    begin: Some(begin),
    end: Some(end),
    slots: Some(slots),
    copy: Some(copy),
    take: Some(take),
    give: Some(give),
    pick: Some(pick),
    ..spur_select_ops::EMPTY
});
static OPTIONS: Shared<[spur_option; 0]> = Shared([]);

spur_plugin! { b"@TYPE@\0", b"whole idle nodes, light ones first\0", SPUR_SELECT_IFACE, OPS, OPTIONS }

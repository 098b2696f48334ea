// @TYPE@ - members are reached under their name with a suffix.
mod spur;
mod sugar;

use spur::*;
use std::sync::Mutex;
use sugar::*;

struct Net {
    suffix: Vec<u8>,
    mine: Mutex<Option<Vec<u8>>>, // our own address, once joined
}

// ---- the policy ----

impl Net {
    /// "n17" and "-ib" make "n17-ib"; without a suffix, where the member said it is.
    unsafe fn address_of(&self, member: &spur_net_member) -> Vec<u8> {
        let base = if self.suffix.is_empty() { member.endpoint } else { member.name };
        [bytes(base), &self.suffix].concat()
    }
}

// ---- the boundary ----

unsafe extern "C" fn join(
    this: *mut spur_plugin,
    me: *const spur_net_member,
    token: *const spur_sink,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let net = instance::<Net>(this);
        *net.mine.lock().unwrap() = Some(net.address_of(&*me));
        Ok(push(token, b""))
    })
}

unsafe extern "C" fn leave(this: *mut spur_plugin, err: *mut spur_error) -> spur_status {
    guard(err, || {
        *instance::<Net>(this).mine.lock().unwrap() = None;
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn peers(_this: *mut spur_plugin, _members: spur_span, _err: *mut spur_error) -> spur_status {
    SPUR_OK
}

unsafe extern "C" fn address(
    this: *mut spur_plugin,
    member: *const spur_net_member,
    out: *const spur_sink,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let net = instance::<Net>(this);
        let text = match member.as_ref() {
            Some(member) => net.address_of(member),
            None => net.mine.lock().unwrap().clone().ok_or_else(|| {
                failure(SPUR_E_INVALID, "this member has not joined yet, so it has no address")
            })?,
        };
        Ok(push(out, &text))
    })
}

unsafe extern "C" fn create(
    _host: *const spur_host,
    config: *const spur_config,
    out: *mut *mut spur_plugin,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || Ok(hand_over(Net { suffix: text_option(config, "suffix")?, mine: Mutex::new(None) }, out)))
}

unsafe extern "C" fn destroy(this: *mut spur_plugin) {
    take_back::<Net>(this)
}

static OPS: Shared<spur_net_ops> = Shared(spur_net_ops {
    size: size_of::<spur_net_ops>(),
    join: Some(join),
    leave: Some(leave),
    peers: Some(peers),
    address: Some(address),
    ..spur_net_ops::EMPTY
});
static OPTIONS: Shared<[spur_option; 1]> = Shared([declare(
    b"suffix\0",
    SPUR_OPTION_STRING,
    Some(b"\0"),
    b"added to a member's name to get its address; empty: use its endpoint\0",
)]);

spur_plugin! { b"@TYPE@\0", b"members are reached under their name with a suffix\0", SPUR_NET_IFACE, OPS, OPTIONS }

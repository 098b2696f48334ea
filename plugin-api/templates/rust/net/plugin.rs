// @TYPE@ - members are reached under their name with a suffix.
mod spur;
mod sugar;

use spur::*;
use std::collections::BTreeMap;
use std::sync::Mutex;
use sugar::*;

struct Net {
    suffix: Vec<u8>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    addresses: BTreeMap<Vec<u8>, Vec<u8>>, // by member; the one without a name is ourselves
    generation: u64,
}

// ---- the policy ----

impl Net {
    /// "n17" and "-ib" make "n17-ib"; without a suffix, where the member said it is.
    unsafe fn address_of(&self, member: &spur_net_member) -> Vec<u8> {
        let named = !self.suffix.is_empty() || member.endpoints.count == 0;
        let base = if named { member.name } else { *at::<spur_str>(member.endpoints, 0) };
        [bytes(base), &self.suffix].concat()
    }
}

// ---- the boundary ----

// Nothing is set up outside this process, so taking over and joining are the same.
unsafe extern "C" fn adopt(
    this: *mut spur_plugin,
    me: *const spur_net_member,
    listener: *const spur_net_listener,
    _stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let net = instance::<Net>(this);
        net.known.lock().unwrap().addresses.insert(Vec::new(), net.address_of(&*me));
        (*listener).token.unwrap()(listener, borrowed(b"")); // others need nothing to talk to us
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn join(
    this: *mut spur_plugin,
    me: *const spur_net_member,
    _invitation: spur_str,
    listener: *const spur_net_listener,
    stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || Ok(adopt(this, me, listener, stop, err)))
}

unsafe extern "C" fn leave(this: *mut spur_plugin, _stop: *const spur_stop, err: *mut spur_error) -> spur_status {
    guard(err, || {
        *instance::<Net>(this).known.lock().unwrap() = Known::default();
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn change(
    this: *mut spur_plugin,
    generation: u64,
    complete: u32,
    changed: spur_span,
    gone: spur_span,
    _stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let net = instance::<Net>(this);
        let mut known = net.known.lock().unwrap();
        if generation <= known.generation {
            return Ok(SPUR_OK);
        }
        if complete != 0 {
            known.addresses.retain(|name, _| name.is_empty());
        }
        for member in records::<spur_net_member>(changed) {
            known.addresses.insert(bytes(member.name).to_vec(), net.address_of(member));
        }
        for name in records::<spur_str>(gone) {
            known.addresses.remove(bytes(*name));
        }
        known.generation = generation;
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn addresses(
    this: *mut spur_plugin,
    name: spur_str,
    out: *const spur_sink,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let known = instance::<Net>(this).known.lock().unwrap();
        match known.addresses.get(bytes(name)) {
            Some(address) => Ok(push(out, address)),
            None => Err(failure(SPUR_E_NOT_FOUND, format!("there is no member {:?}", String::from_utf8_lossy(bytes(name))))),
        }
    })
}

unsafe extern "C" fn create(
    _host: *const spur_host,
    config: *const spur_config,
    out: *mut *mut spur_plugin,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || Ok(hand_over(Net { suffix: text_option(config, "suffix")?, known: Mutex::default() }, out)))
}

unsafe extern "C" fn destroy(this: *mut spur_plugin) {
    take_back::<Net>(this)
}

static OPS: Shared<spur_net_ops> = Shared(spur_net_ops {
    size: size_of::<spur_net_ops>(),
    join: Some(join),
    adopt: Some(adopt),
    leave: Some(leave),
    change: Some(change),
    addresses: Some(addresses),
    ..spur_net_ops::EMPTY
});
static OPTIONS: Shared<[spur_option; 1]> = Shared([declare(
    b"suffix\0",
    SPUR_OPTION_STRING,
    Some(b"\0"),
    b"added to a member's name to get its address; empty: use its endpoint\0",
)]);

spur_plugin! { b"@TYPE@\0", b"members are reached under their name with a suffix\0", SPUR_NET_IFACE, OPS, OPTIONS }

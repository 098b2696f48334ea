// sugar.rs - what makes the boundary comfortable in Rust: failures as values, panics that stop, spans as iterators.
#![allow(dead_code)]

use crate::spur::*;
use std::ffi::CStr;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

// ---- errors ----

pub struct Failure {
    pub status: spur_status,
    pub text: String,
}
pub type Answer<T> = Result<T, Failure>;

pub fn failure(status: spur_status, text: impl Into<String>) -> Failure {
    Failure { status, text: text.into() }
}

/// Up to where the first release's spur_error went: size, code and 248 bytes of text.
const TEXT_END: usize = 256;

/// Fills a caller-owned error; cut at the end of the buffer, never inside a character.
pub fn fail(err: *mut spur_error, status: spur_status, text: &str) -> spur_status {
    let capacity = unsafe { err.as_ref() }.map_or(0, |err| err.size as usize);
    let err = if capacity < TEXT_END { std::ptr::null_mut() } else { err };
    if let Some(err) = unsafe { err.as_mut() } {
        let mut length = text.len().min(err.text.len() - 1);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        err.code = status;
        for (place, byte) in err.text.iter_mut().zip(text.as_bytes()[..length].iter().chain(&[0])) {
            *place = *byte as c_char;
        }
    }
    status
}

/// Failures and panics stop here: neither may cross the boundary.
pub fn guard(err: *mut spur_error, body: impl FnOnce() -> Answer<spur_status>) -> spur_status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => fail(err, failure.status, &failure.text),
        Err(_) => fail(err, SPUR_E_INTERNAL, "the plugin panicked; see the daemon's stderr"),
    }
}

/// The same for functions that have no error to fill: what they answer where the body panics.
pub fn caught<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

// ---- stopping ----

/// What an op that may wait was given to know when to give up. Lives no longer than the call.
#[derive(Clone, Copy)]
pub struct Stop<'a>(&'a spur_stop);

impl<'a> Stop<'a> {
    pub unsafe fn new(stop: *const spur_stop) -> Stop<'a> {
        Stop(&*stop)
    }
    pub fn stopped(&self) -> bool {
        self.0.stopped.map_or(false, |stopped| unsafe { stopped(self.0) != 0 })
    }
    /// For `?`: leaves the call the way the host expects.
    pub fn check(&self) -> Answer<()> {
        if self.stopped() {
            return Err(failure(SPUR_E_STOPPED, "stopped because the daemon asked for it"));
        }
        Ok(())
    }
    /// Readable once stopped: for poll(), beside your own descriptors. -1: there is none.
    pub fn fd(&self) -> i32 {
        self.0.fd
    }
    /// Fails when stopped before the time is up.
    pub fn sleep(&self, time: std::time::Duration) -> Answer<()> {
        let until = std::time::Instant::now() + time;
        loop {
            self.check()?;
            let left = until.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(std::time::Duration::from_millis(100)));
        }
    }
}

// ---- answering ----

unsafe fn put_bytes(out: *mut u8, capacity: usize, value: *const u8, length: usize, from: usize) {
    let length = length.min(capacity);
    if length > from {
        std::ptr::copy_nonoverlapping(value.add(from), out.add(from), length - from);
    }
}
/// Into memory of the host's that opens with its size: as much as there is, and never the size itself.
pub unsafe fn put<T>(out: *mut T, answer: &T) {
    let capacity = *(out as *const u32) as usize;
    put_bytes(out as *mut u8, capacity, answer as *const T as *const u8, std::mem::size_of::<T>(), 4);
}
/// The same for record `i` of an array of the host's.
pub unsafe fn put_at<T>(out: *mut T, stride: u32, i: usize, answer: &T) {
    let place = (out as *mut u8).add(stride as usize * i);
    put_bytes(place, stride as usize, answer as *const T as *const u8, std::mem::size_of::<T>(), 0);
}

// ---- looking ----

/// The i-th record of a span: stepped by the host's stride, since its records may be longer than ours.
pub unsafe fn at<'a, T>(span: spur_span, i: u32) -> &'a T {
    &*((span.data as *const u8).add(span.stride as usize * i as usize) as *const T)
}

pub unsafe fn records<'a, T: 'a>(span: spur_span) -> impl Iterator<Item = &'a T> {
    (0..span.count).map(move |i| at(span, i))
}

pub unsafe fn span_of<T>(items: &[T]) -> spur_span {
    spur_span { data: items.as_ptr() as *const c_void, count: items.len() as u32, stride: std::mem::size_of::<T>() as u32 }
}

pub unsafe fn has_bit(bits: spur_bits, i: u32) -> bool {
    i < bits.count && !bits.words.is_null() && *bits.words.add(i as usize / 64) >> (i % 64) & 1 != 0
}

pub unsafe fn bytes<'a>(text: spur_str) -> &'a [u8] {
    if text.length == 0 {
        return &[];
    }
    std::slice::from_raw_parts(text.data as *const u8, text.length as usize)
}

/// Borrowed for as long as `text` lives: for passing to a call.
pub fn borrowed(text: &[u8]) -> spur_str {
    spur_str { data: text.as_ptr() as *const c_char, length: text.len() as u32, reserved: 0 }
}

pub const NO_TEXT: spur_str = spur_str { data: std::ptr::null(), length: 0, reserved: 0 };
pub const NO_SPAN: spur_span = spur_span { data: std::ptr::null(), count: 0, stride: 0 };
pub const NO_BITS: spur_bits = spur_bits { words: std::ptr::null(), count: 0, reserved: 0 };

pub unsafe fn push(sink: *const spur_sink, text: &[u8]) -> spur_status {
    match (*sink).write {
        Some(write) => write(sink, text.as_ptr() as *const c_void, text.len() as u64),
        None => SPUR_E_INVALID,
    }
}

// ---- options and facts ----

unsafe fn option<'a>(config: *const spur_config, key: &str) -> Answer<&'a spur_config_value> {
    records::<spur_config_value>((*config).values)
        .find(|value| CStr::from_ptr(value.key).to_bytes() == key.as_bytes())
        .ok_or_else(|| failure(SPUR_E_INTERNAL, format!("option {} was not declared", key)))
}
pub unsafe fn integer_option(config: *const spur_config, key: &str) -> Answer<i64> {
    Ok(option(config, key)?.integer)
}
pub unsafe fn text_option(config: *const spur_config, key: &str) -> Answer<Vec<u8>> {
    Ok(CStr::from_ptr(option(config, key)?.text).to_bytes().to_vec())
}

unsafe extern "C" fn append(sink: *const spur_sink, data: *const c_void, length: u64) -> spur_status {
    caught(SPUR_E_BUSY, || {
        let text = &mut *((*sink).context as *mut Vec<u8>);
        if length > 0 {
            text.extend_from_slice(std::slice::from_raw_parts(data as *const u8, length as usize));
        }
        SPUR_OK
    })
}

/// A fact about the daemon ("state_dir"); empty where the host does not know it. `key` ends in \0.
pub unsafe fn host_fact(host: *const spur_host, key: &[u8]) -> Vec<u8> {
    let mut text: Vec<u8> = Vec::new();
    let facts = (*host).service.map(|service| service(host, SPUR_CONFIG_SERVICE.as_ptr() as *const c_char));
    let facts = facts.unwrap_or(std::ptr::null()) as *const spur_config_service;
    if let Some(get) = facts.as_ref().and_then(|facts| facts.get) {
        let sink = spur_sink {
            size: std::mem::size_of::<spur_sink>() as u32,
            reserved: 0,
            context: &mut text as *mut Vec<u8> as *mut c_void,
            write: Some(append),
            ..spur_sink::EMPTY
        };
        if get(facts, key.as_ptr() as *const c_char, &sink) != SPUR_OK {
            text.clear();
        }
    }
    text
}

// ---- the boundary ----

/// An instance goes out as a pointer and comes back as a reference.
pub fn hand_over<T>(instance: T, out: *mut *mut spur_plugin) -> spur_status {
    unsafe { *out = Box::into_raw(Box::new(instance)) as *mut spur_plugin };
    SPUR_OK
}
pub unsafe fn instance<'a, T>(this: *mut spur_plugin) -> &'a T {
    &*(this as *const T)
}
pub unsafe fn take_back<T>(this: *mut spur_plugin) {
    caught((), || drop(Box::from_raw(this as *mut T)))
}

/// Tables of pointers to constants are safe to share; Rust cannot know.
pub struct Shared<T>(pub T);
unsafe impl<T> Sync for Shared<T> {}

pub const fn c(text: &'static [u8]) -> *const c_char {
    assert!(text[text.len() - 1] == 0);
    text.as_ptr() as *const c_char
}

pub const fn size_of<T>() -> u32 {
    std::mem::size_of::<T>() as u32
}

/// An option that is neither a choice nor bounded; see module.h for the others.
pub const fn declare(key: &'static [u8], kind: u32, fallback: Option<&'static [u8]>, help: &'static [u8]) -> spur_option {
    let fallback = match fallback {
        Some(text) => c(text),
        None => std::ptr::null(),
    };
    spur_option { key: c(key), kind, flags: 0, fallback, help: c(help), choices: std::ptr::null(), minimum: 0, maximum: 0, ..spur_option::EMPTY }
}

/// spur_plugin! { type, summary, interface, ops, options }: the descriptor, query() and the one exported function.
/// create() and destroy() are found by their names.
#[macro_export]
macro_rules! spur_plugin {
    ($type:expr, $summary:expr, $interface:expr, $ops:expr, $options:expr) => {
        static INTERFACES: Shared<[*const std::os::raw::c_char; 2]> = Shared([c($interface), std::ptr::null()]);
        static DESC: Shared<spur_plugin_desc> = Shared(spur_plugin_desc {
            size: size_of::<spur_plugin_desc>(),
            reserved: 0,
            r#type: c($type),
            version: c(b"0.1.0\0"),
            vendor: c(b"your name here\0"),
            summary: c($summary),
            options: $options.0.as_ptr(),
            option_count: $options.0.len() as u32,
            option_stride: size_of::<spur_option>(),
            interfaces: &INTERFACES.0 as *const *const std::os::raw::c_char,
            create: Some(create),
            destroy: Some(destroy),
            query: Some(query),
            ..spur_plugin_desc::EMPTY
        });
        static PLUGINS: Shared<[*const spur_plugin_desc; 2]> = Shared([&DESC.0, std::ptr::null()]);
        static MODULE: Shared<spur_module> = Shared(spur_module {
            size: size_of::<spur_module>(),
            abi: SPUR_ABI_EPOCH,
            built_with: c(SPUR_HEADERS_VERSION),
            plugins: &PLUGINS.0 as *const *const spur_plugin_desc,
            ..spur_module::EMPTY
        });

        unsafe extern "C" fn query(_this: *mut spur_plugin, id: *const std::os::raw::c_char) -> *const std::os::raw::c_void {
            caught(std::ptr::null(), || {
                if std::ffi::CStr::from_ptr(id).to_bytes_with_nul() == $interface {
                    return &$ops.0 as *const _ as *const std::os::raw::c_void;
                }
                std::ptr::null()
            })
        }

        #[no_mangle]
        pub extern "C" fn spur_module_v1() -> *const spur_module {
            &MODULE.0
        }
    };
}

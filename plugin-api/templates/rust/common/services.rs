// services.rs - what the host offers, comfortable in Rust: notices, metrics, a small store, work off the calling thread. Each does
// without where the host has no such service.
#![allow(dead_code)]

use crate::spur::*;
use crate::sugar::*;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

unsafe fn service<T>(host: *const spur_host, id: &[u8]) -> Option<&'static T> {
    let find = (*host).service?;
    (find(host, id.as_ptr() as *const c_char) as *const T).as_ref()
}

fn text(text: &str) -> spur_str {
    spur_str { data: text.as_ptr() as *const c_char, length: text.len() as u32, reserved: 0 }
}

fn span_of<T>(records: &[T]) -> spur_span {
    spur_span { data: records.as_ptr() as *const c_void, count: records.len() as u32, stride: size_of::<T>() }
}

/// Tables live as long as the instance they were given to: keep these in it, and nowhere else.
macro_rules! table {
    ($(#[$about:meta])* $name:ident, $table:ident, $id:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub struct $name(Option<&'static $table>);
        unsafe impl Send for $name {}
        unsafe impl Sync for $name {}
        impl $name {
            pub unsafe fn new(host: *const spur_host) -> Self {
                $name(service(host, $id))
            }
            pub fn is_there(&self) -> bool {
                self.0.is_some()
            }
        }
    };
}

table!(
    /// Tells the daemon that something this plugin answers for has changed.
    Notify, spur_notify, SPUR_NOTIFY_SERVICE
);
impl Notify {
    /// True if something in this daemon depends on it.
    pub fn changed(&self, what: u32, subject: &str, reason: &str) -> bool {
        let answer = self.0.and_then(|table| Some(unsafe { table.changed?(table, what, text(subject), text(reason)) }));
        answer == Some(SPUR_OK)
    }
}

table!(
    /// Numbers to plot. Handle 0 does nothing.
    Metrics, spur_metrics, SPUR_METRICS_SERVICE
);
impl Metrics {
    pub fn define(&self, kind: u32, name: &str, help: &str, labels: &[&str]) -> u32 {
        let names: Vec<spur_str> = labels.iter().map(|label| text(label)).collect();
        let metric = spur_metric {
            size: size_of::<spur_metric>(),
            kind,
            name: text(name),
            help: text(help),
            labels: span_of(&names),
            ..spur_metric::EMPTY
        };
        self.0.and_then(|table| Some(unsafe { table.define?(table, &metric) })).unwrap_or(0)
    }
    pub fn series(&self, metric: u32, values: &[&str]) -> u32 {
        let values: Vec<spur_str> = values.iter().map(|value| text(value)).collect();
        self.0.and_then(|table| Some(unsafe { table.series?(table, metric, span_of(&values)) })).unwrap_or(0)
    }
    pub fn add(&self, series: u32, amount: f64) {
        if let Some((table, add)) = self.0.and_then(|table| Some((table, table.add?))) {
            unsafe { add(table, series, amount) }
        }
    }
    pub fn set(&self, series: u32, value: f64) {
        if let Some((table, set)) = self.0.and_then(|table| Some((table, table.set?))) {
            unsafe { set(table, series, value) }
        }
    }
}

table!(
    /// What must outlive a restart. Without a store nothing is found and nothing kept.
    Store, spur_store, SPUR_STORE_SERVICE
);
impl Store {
    pub fn get(&self, key: &str) -> Answer<Option<Vec<u8>>> {
        let (table, get) = match self.0.and_then(|table| Some((table, table.get?))) {
            Some(found) => found,
            None => return Ok(None),
        };
        let mut value: Vec<u8> = Vec::new();
        let sink = spur_sink {
            size: size_of::<spur_sink>(),
            context: &mut value as *mut Vec<u8> as *mut c_void,
            write: Some(append),
            ..spur_sink::EMPTY
        };
        match with_error(|err| unsafe { get(table, text(key), &sink, err) }) {
            Err(failure) if failure.status == SPUR_E_NOT_FOUND => Ok(None),
            Err(failure) => Err(failure),
            Ok(()) => Ok(Some(value)),
        }
    }
    pub fn put(&self, key: &str, value: &[u8]) -> Answer<()> {
        let value = spur_bytes { data: value.as_ptr() as *const c_void, length: value.len() as u64 };
        self.change(spur_store_change { what: SPUR_STORE_PUT, key: text(key), value, ..spur_store_change::EMPTY })
    }
    pub fn remove(&self, key: &str) -> Answer<()> {
        self.change(spur_store_change { what: SPUR_STORE_REMOVE, key: text(key), ..spur_store_change::EMPTY })
    }
    fn change(&self, change: spur_store_change) -> Answer<()> {
        match self.0.and_then(|table| Some((table, table.change?))) {
            Some((table, call)) => with_error(|err| unsafe { call(table, span_of(&[change]), err) }),
            None => Ok(()),
        }
    }
}

fn with_error(call: impl FnOnce(*mut spur_error) -> spur_status) -> Answer<()> {
    let mut err = spur_error { size: size_of::<spur_error>(), ..spur_error::EMPTY };
    match call(&mut err) {
        SPUR_OK => Ok(()),
        status => {
            let text = unsafe { std::ffi::CStr::from_ptr(err.text.as_ptr()) };
            Err(failure(status, text.to_string_lossy()))
        }
    }
}

unsafe extern "C" fn append(sink: *const spur_sink, data: *const c_void, length: u64) -> spur_status {
    caught(SPUR_E_BUSY, || {
        let value = &mut *((*sink).context as *mut Vec<u8>);
        if length > 0 {
            value.extend_from_slice(std::slice::from_raw_parts(data as *const u8, length as usize));
        }
        SPUR_OK
    })
}

table!(
    /// Work off the calling thread. Closures are dropped when they have run, or will not any more.
    Executor, spur_executor, SPUR_EXECUTOR_SERVICE
);
type Once = Box<dyn FnOnce() + Send>;
type Again = Box<dyn FnMut() + Send>;
type Blocking = Box<dyn FnOnce(Stop<'_>) + Send>;
type Watcher = Box<dyn FnMut(u32) + Send>;

impl Executor {
    /// Soon, on a thread shared with other plugins: it must not wait.
    pub fn post(&self, run: impl FnOnce() + Send + 'static) -> spur_status {
        self.hand_over(Box::new(run) as Once, |table, kept| unsafe {
            table.post.map(|post| post(table, run_once, let_go::<Once>, kept))
        })
    }
    /// Soon, where it may wait until it is stopped.
    pub fn post_blocking(&self, run: impl FnOnce(Stop<'_>) + Send + 'static) -> spur_status {
        self.hand_over(Box::new(run) as Blocking, |table, kept| unsafe {
            table.post_blocking.map(|post| post(table, run_blocking, let_go::<Blocking>, kept))
        })
    }
    pub fn post_after(&self, delay: Duration, run: impl FnOnce() + Send + 'static) -> spur_status {
        self.hand_over(Box::new(run) as Once, |table, kept| unsafe {
            let delay = delay.as_nanos().min(i64::MAX as u128) as i64;
            table.post_after.map(|post| post(table, delay, run_once, let_go::<Once>, kept, std::ptr::null_mut()))
        })
    }
    /// Until the instance ends.
    pub fn post_every(&self, period: Duration, run: impl FnMut() + Send + 'static) -> spur_status {
        self.hand_over(Box::new(run) as Again, |table, kept| unsafe {
            let period = period.as_nanos().min(i64::MAX as u128) as i64;
            table.post_every.map(|post| post(table, period, run_again, let_go::<Again>, kept, std::ptr::null_mut()))
        })
    }
    /// `run` is given SPUR_WATCH_*, again and again until the instance ends.
    pub fn watch_fd(&self, fd: i32, events: u32, run: impl FnMut(u32) + Send + 'static) -> spur_status {
        self.hand_over(Box::new(run) as Watcher, |table, kept| unsafe {
            table
                .watch_fd
                .map(|watch| watch(table, fd, events, run_watch, let_go::<Watcher>, kept, std::ptr::null_mut()))
        })
    }

    fn hand_over<T>(&self, run: T, post: impl FnOnce(&'static spur_executor, *mut c_void) -> Option<spur_status>) -> spur_status {
        let table = match self.0 {
            Some(table) => table,
            None => return SPUR_E_UNAVAILABLE,
        };
        let kept = Box::into_raw(Box::new(run)) as *mut c_void;
        let status = post(table, kept).unwrap_or(SPUR_E_UNSUPPORTED);
        if status != SPUR_OK {
            unsafe { let_go::<T>(kept) }
        }
        status
    }
}

// Panics stop here.
fn quietly(body: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(body));
}
unsafe extern "C" fn let_go<T>(kept: *mut c_void) {
    quietly(|| drop(Box::from_raw(kept as *mut T)))
}
unsafe extern "C" fn run_once(kept: *mut c_void) {
    quietly(|| (Box::from_raw(kept as *mut Once))())
}
unsafe extern "C" fn run_again(kept: *mut c_void) {
    quietly(|| (*(kept as *mut Again))())
}
unsafe extern "C" fn run_watch(kept: *mut c_void, events: u32) {
    quietly(|| (*(kept as *mut Watcher))(events))
}
unsafe extern "C" fn run_blocking(kept: *mut c_void, stop: *const spur_stop) {
    quietly(|| (Box::from_raw(kept as *mut Blocking))(Stop::new(stop)))
}

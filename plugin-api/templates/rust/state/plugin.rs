// @TYPE@ - the boundary, and the thread that writes. The file itself is in log_file.rs.
mod log_file;
mod services;
mod spur;
mod sugar;

use log_file::LogFile;
use services::Metrics;
use spur::*;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::raw::c_void;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use sugar::*;

struct Proposal {
    ticket: u64,
    bodies: Vec<Vec<u8>>,
}

/// The host's listener lives until destroy() and may be called from our thread.
#[derive(Clone, Copy)]
struct Ears(*const spur_state_listener);
unsafe impl Send for Ears {}

impl Ears {
    unsafe fn committed(&self, index: u64, body: &[u8]) {
        let body = spur_bytes { data: body.as_ptr() as *const c_void, length: body.len() as u64 };
        let entry = spur_state_entry { body, index, term: 1 };
        (*self.0).committed.unwrap()(self.0, &entry, 1);
    }
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Proposal>,
    figures: Figures,
    is_open: bool,
    stopping: bool,
    broken: bool,
}

/// What status() reports, so that it need not wait for the disk.
#[derive(Default, Clone, Copy)]
struct Figures {
    committed: u64,
    entries: u64,
    snapshot: u64,
    log_bytes: u64,
    syncs: u64,
}

#[derive(Default)]
struct Shop {
    log: Mutex<Option<LogFile>>, // taken before `queue`
    queue: Mutex<Queue>,
    wake: Condvar,
    entries_total: Option<(Metrics, u32)>,
}

struct State {
    directory: PathBuf,
    shop: Arc<Shop>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

// ---- the policy ----

impl Shop {
    unsafe fn commit(&self, ears: Ears, index: u64, body: &[u8]) {
        ears.committed(index, body);
        if let Some((metrics, entries_total)) = self.entries_total {
            metrics.add(entries_total, 1.0);
        }
        let figures = &mut self.queue.lock().unwrap().figures;
        figures.committed = index;
        figures.entries += 1;
    }

    fn remember(&self, log: &LogFile) {
        let figures = &mut self.queue.lock().unwrap().figures;
        figures.snapshot = log.snapshot_index;
        figures.log_bytes = log.bytes;
        figures.syncs = log.syncs;
    }

    fn next_batch(&self) -> Vec<Proposal> {
        let mut queue = self.queue.lock().unwrap();
        while queue.waiting.is_empty() && !queue.stopping {
            queue = self.wake.wait(queue).unwrap();
        }
        std::mem::take(&mut queue.waiting)
    }

    unsafe fn write_batch(&self, ears: Ears, batch: &[Proposal]) -> std::io::Result<()> {
        let mut guard = self.log.lock().unwrap();
        let log = guard.as_mut().unwrap();
        let first = log.last_index + 1;
        for body in batch.iter().flat_map(|proposal| &proposal.bodies) {
            log.append(body);
        }
        log.sync()?;
        self.remember(log);
        for (index, body) in (first..).zip(batch.iter().flat_map(|proposal| &proposal.bodies)) {
            self.commit(ears, index, body);
        }
        Ok(())
    }

    /// The writer: everything that was proposed while the disk was busy shares the next sync.
    unsafe fn write(&self, ears: Ears) {
        loop {
            let batch = self.next_batch();
            if batch.is_empty() {
                return;
            }
            let mut err: spur_error = std::mem::zeroed();
            err.size = size_of::<spur_error>();
            let mut outcome = SPUR_OK;
            if let Err(error) = self.write_batch(ears, &batch) {
                outcome = SPUR_STATE_UNKNOWN;
                fail(&mut err, SPUR_E_IO, &format!("cannot write to the log: {}", error));
                self.queue.lock().unwrap().broken = true;
                (*ears.0).failed.unwrap()(ears.0, &err);
            }
            for proposal in batch {
                (*ears.0).outcome.unwrap()(ears.0, proposal.ticket, outcome, &err);
            }
        }
    }
}

impl State {
    fn io<T>(&self, what: &str, result: std::io::Result<T>) -> Answer<T> {
        result.map_err(|error| failure(SPUR_E_IO, format!("cannot {} in {}: {}", what, self.directory.display(), error)))
    }

    unsafe fn open(&self, ears: Ears, stop: Stop, err: *mut spur_error) -> Answer<spur_status> {
        stop.check()?;
        let mut log = self.io("open the log", LogFile::open(&self.directory))?;
        if log.snapshot_index != 0 {
            let mut file = self.io("open the snapshot", File::open(log.snapshot_path(log.snapshot_index)))?;
            let context = &mut file as *mut File as *mut c_void;
            let source = spur_source { size: size_of::<spur_source>(), reserved: 0, context, read: Some(read_snapshot), ..spur_source::EMPTY };
            self.shop.queue.lock().unwrap().figures.committed = log.snapshot_index;
            let status = (*ears.0).restore.unwrap()(ears.0, log.snapshot_index, &source, err);
            if status != SPUR_OK {
                return Ok(status); // the host has filled in err
            }
        }
        let recovered = log.recover(|index, body| self.shop.commit(ears, index, body));
        self.io("recover the log", recovered)?;
        self.shop.remember(&log);
        *self.shop.log.lock().unwrap() = Some(log);
        (*ears.0).role.unwrap()(ears.0, SPUR_STATE_LEADER, 1, NO_TEXT);
        let shop = self.shop.clone();
        *self.writer.lock().unwrap() = Some(std::thread::spawn(move || {
            let ears = ears; // all of it: a pointer alone may not change threads
            shop.write(ears)
        }));
        self.shop.queue.lock().unwrap().is_open = true;
        Ok(SPUR_OK)
    }

    unsafe fn snapshot(&self, index: u64, source: *const spur_source, stop: Stop) -> Answer<spur_status> {
        let mut guard = self.shop.log.lock().unwrap();
        let log = guard.as_mut().ok_or_else(|| failure(SPUR_E_INVALID, "the log is not open yet"))?;
        let draft = log.snapshot_path(0);
        let made = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(draft);
        let mut file = self.io("write a snapshot", made)?;
        let (mut buffer, mut length) = (vec![0u8; 65536], 1);
        while length != 0 {
            stop.check()?;
            let status = (*source).read.unwrap()(source, buffer.as_mut_ptr() as *mut c_void, buffer.len() as u64, &mut length);
            if status != SPUR_OK {
                return Err(failure(status, "the host could not read its snapshot"));
            }
            self.io("write a snapshot", file.write_all(&buffer[..length as usize]))?;
        }
        self.io("write a snapshot", file.sync_all().and_then(|_| log.adopt_snapshot(index)))?;
        self.shop.remember(log);
        Ok(SPUR_OK)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.shop.queue.lock().unwrap().stopping = true;
        self.shop.wake.notify_all();
        if let Some(writer) = self.writer.lock().unwrap().take() {
            let _ = writer.join();
        }
    }
}

// ---- the boundary ----

unsafe extern "C" fn read_snapshot(
    source: *const spur_source,
    buffer: *mut c_void,
    capacity: u64,
    length: *mut u64,
) -> spur_status {
    caught(SPUR_E_INTERNAL, || {
        let file = &mut *((*source).context as *mut File);
        match file.read(std::slice::from_raw_parts_mut(buffer as *mut u8, capacity as usize)) {
            Ok(count) => {
                *length = count as u64;
                SPUR_OK
            }
            Err(_) => SPUR_E_IO,
        }
    })
}

unsafe extern "C" fn open(
    this: *mut spur_plugin,
    listener: *const spur_state_listener,
    stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || instance::<State>(this).open(Ears(listener), Stop::new(stop), err))
}

unsafe extern "C" fn propose(
    this: *mut spur_plugin,
    entries: *const spur_state_entry,
    count: u32,
    ticket: u64,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let bodies = (0..count as usize).map(|i| {
            let body = (*entries.add(i)).body;
            if body.length == 0 {
                return Vec::new();
            }
            std::slice::from_raw_parts(body.data as *const u8, body.length as usize).to_vec()
        });
        let proposal = Proposal { ticket, bodies: bodies.collect() };
        let shop = &instance::<State>(this).shop;
        let mut queue = shop.queue.lock().unwrap();
        if !queue.is_open || queue.broken {
            let text = "the log is not open, or could not be written to; see the daemon's log";
            return Err(failure(SPUR_E_IO, text));
        }
        queue.waiting.push(proposal);
        shop.wake.notify_all();
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn status(this: *mut spur_plugin, out: *mut spur_state_status, err: *mut spur_error) -> spur_status {
    guard(err, || {
        let figures = instance::<State>(this).shop.queue.lock().unwrap().figures;
        let answer = spur_state_status {
            role: SPUR_STATE_LEADER,
            term: 1,
            last_index: figures.committed,
            committed_index: figures.committed,
            snapshot_index: figures.snapshot,
            log_bytes: figures.log_bytes,
            fsyncs: figures.syncs,
            entries: figures.entries,
            ..spur_state_status::EMPTY
        };
        put(out, &answer);
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn snapshot(
    this: *mut spur_plugin,
    index: u64,
    source: *const spur_source,
    stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || instance::<State>(this).snapshot(index, source, Stop::new(stop)))
}

unsafe extern "C" fn create(
    host: *const spur_host,
    config: *const spur_config,
    out: *mut *mut spur_plugin,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let mut path = text_option(config, "directory")?;
        if path.is_empty() {
            path = host_fact(host, b"state_dir\0");
            if path.is_empty() {
                return Err(failure(SPUR_E_INVALID, "no place for the log: set the option \"directory\""));
            }
            path.extend(b"/@NAME@");
        }
        let directory = PathBuf::from(OsString::from_vec(path));
        let metrics = Metrics::new(host);
        let entries_total = metrics.define(SPUR_METRIC_COUNTER, "entries_total", "entries committed since the daemon began", &[]);
        let shop = Arc::new(Shop { entries_total: Some((metrics, entries_total)), ..Shop::default() });
        Ok(hand_over(State { directory, shop, writer: Mutex::new(None) }, out))
    })
}

unsafe extern "C" fn destroy(this: *mut spur_plugin) {
    take_back::<State>(this)
}

static OPS: Shared<spur_state_ops> = Shared(spur_state_ops {
    size: size_of::<spur_state_ops>(),
    features: 0,
    open: Some(open),
    propose: Some(propose),
    status: Some(status),
    snapshot: Some(snapshot),
    ..spur_state_ops::EMPTY
});
static OPTIONS: Shared<[spur_option; 1]> = Shared([declare(
    b"directory\0",
    SPUR_OPTION_PATH,
    None,
    b"where the log is; by default @NAME@ in the state directory\0",
)]);

spur_plugin! { b"@TYPE@\0", b"one log file on one controller\0", SPUR_STATE_IFACE, OPS, OPTIONS }

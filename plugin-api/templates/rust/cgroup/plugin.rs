// @TYPE@ - a control group of version 2 for each step, below a root. Everything it knows is in the file system.
mod spur;
mod sugar;

use spur::*;
use std::ffi::OsString;
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::io::IntoRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sugar::*;

struct Groups {
    root: Vec<u8>, // at most LONGEST_ROOT bytes
}

const LONGEST_ROOT: usize = 300;
const SIGKILL: c_int = 9;
const EBUSY: i32 = 16;

extern "C" {
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn write(file: c_int, data: *const c_void, length: usize) -> isize;
    fn close(file: c_int) -> c_int;
}

// ---- the policy ----

/// Text built without allocating: attach() is called between fork and exec.
struct Text {
    bytes: [u8; 512],
    length: usize,
}

impl Text {
    fn new() -> Text {
        Text { bytes: [0; 512], length: 0 }
    }
    fn add(mut self, text: &[u8]) -> Text {
        for &byte in text {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
        self
    }
    fn add_number(self, number: u32) -> Text {
        let (mut digits, mut at, mut left) = ([0u8; 10], 10, number);
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                return self.add(&digits[at..]);
            }
        }
    }
}

impl Groups {
    /// The end of another step may take the job's empty group away meanwhile: once more, then.
    fn make(&self, scope: &spur_cgroup_scope) -> Result<()> {
        let mut made = Ok(());
        for _ in 0..100 {
            made = fs::create_dir_all(self.path_of(scope));
            match &made {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                _ => break,
            }
        }
        made
    }

    fn text_of(&self, scope: &spur_cgroup_scope) -> Text {
        let mut text = Text::new().add(&self.root);
        if scope.job != SPUR_NONE {
            // otherwise it is the node's own
            text = text.add(b"/job_").add_number(scope.job).add(b".").add_number(scope.attempt);
        }
        if scope.step != SPUR_NONE {
            text = text.add(b"/step_").add_number(scope.step);
        }
        if scope.task != SPUR_NONE {
            text = text.add(b"/task_").add_number(scope.task);
        }
        text
    }

    fn path_of(&self, scope: &spur_cgroup_scope) -> PathBuf {
        let text = self.text_of(scope);
        PathBuf::from(OsString::from_vec(text.bytes[..text.length].to_vec()))
    }

    unsafe fn attach(&self, scope: &spur_cgroup_scope, pid: u32) -> bool {
        const WRITE_ONLY_CLOSE_ON_EXEC: c_int = 0o2000001;
        let path = self.text_of(scope).add(b"/cgroup.procs\0");
        let number = Text::new().add_number(pid);
        let file = open(path.bytes.as_ptr() as *const c_char, WRITE_ONLY_CLOSE_ON_EXEC);
        if file < 0 {
            return false;
        }
        let written = write(file, number.bytes.as_ptr() as *const c_void, number.length);
        close(file);
        written > 0
    }

    fn open_for_clone(&self, scope: &spur_cgroup_scope) -> Result<i32> {
        Ok(fs::File::open(self.path_of(scope))?.into_raw_fd())
    }

    fn freeze(&self, scope: &spur_cgroup_scope, frozen: bool, stop: &Stop) -> Result<()> {
        let path = self.path_of(scope);
        fs::write(path.join("cgroup.freeze"), if frozen { "1" } else { "0" })?;
        let wanted = if frozen { "frozen 1" } else { "frozen 0" };
        for _ in 0..5000 {
            // the kernel takes a moment
            if fs::read_to_string(path.join("cgroup.events"))?.lines().any(|line| line == wanted) {
                return Ok(());
            }
            pause(stop)?;
        }
        Err(Error::new(ErrorKind::TimedOut, "the kernel did not confirm a freeze"))
    }

    /// After SIGKILL all are gone: some may have been born while the others were killed.
    fn signal(&self, scope: &spur_cgroup_scope, number: i32, stop: &Stop) -> Result<()> {
        for _ in 0..5000 {
            let living = processes_below(&self.path_of(scope))?;
            for &pid in &living {
                unsafe { kill(pid, number) };
            }
            if number != SIGKILL || living.is_empty() {
                return Ok(());
            }
            pause(stop)?;
        }
        Err(Error::from_raw_os_error(EBUSY))
    }

    fn remove(&self, scope: &spur_cgroup_scope) -> Result<()> {
        let path = self.path_of(scope);
        for group in groups_below(&path)?.iter().rev() {
            match fs::remove_dir(group) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        if scope.step != SPUR_NONE {
            let _ = fs::remove_dir(path.parent().unwrap()); // the job's, if this was the last of its steps
        }
        Ok(())
    }
}

/// A moment for the kernel; an error once the host has asked to give up.
fn pause(stop: &Stop) -> Result<()> {
    if stop.stopped() {
        return Err(Error::new(ErrorKind::TimedOut, "stopped because the daemon asked for it"));
    }
    std::thread::sleep(Duration::from_millis(1));
    Ok(())
}

/// `top` and all below it, parents first; none if it does not exist.
fn groups_below(top: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if top.is_dir() {
        found.push(top.to_path_buf());
        for entry in fs::read_dir(top)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                found.extend(groups_below(&entry.path())?);
            }
        }
    }
    Ok(found)
}

fn processes_below(top: &Path) -> Result<Vec<i32>> {
    let mut found = Vec::new();
    for group in groups_below(top)? {
        let listed = fs::read_to_string(group.join("cgroup.procs"))?;
        found.extend(listed.lines().filter_map(|line| line.parse::<i32>().ok()));
    }
    Ok(found)
}

// ---- the boundary ----

/// Runs `body`; a failed system call becomes SPUR_E_BUSY or SPUR_E_IO.
unsafe fn with(
    this: *mut spur_plugin,
    scope: *const spur_cgroup_scope,
    err: *mut spur_error,
    body: impl FnOnce(&Groups, &spur_cgroup_scope) -> Result<()>,
) -> spur_status {
    guard(err, || {
        let (groups, scope) = (instance::<Groups>(this), &*scope);
        body(groups, scope).map_err(|error| {
            let status = if error.raw_os_error() == Some(EBUSY) { SPUR_E_BUSY } else { SPUR_E_IO };
            failure(status, format!("control group {}: {}", groups.path_of(scope).display(), error))
        })?;
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn capabilities(_this: *mut spur_plugin) -> u32 {
    SPUR_CGROUP_CONTAINS | SPUR_CGROUP_FREEZES
}
unsafe extern "C" fn make(
    this: *mut spur_plugin,
    scope: *const spur_cgroup_scope,
    _limits: *const spur_cgroup_limits,
    err: *mut spur_error,
) -> spur_status {
    with(this, scope, err, |groups, scope| groups.make(scope))
}
unsafe extern "C" fn attach(
    this: *mut spur_plugin,
    scope: *const spur_cgroup_scope,
    pid: i32,
    err: *mut spur_error,
) -> spur_status {
    if instance::<Groups>(this).attach(&*scope, pid as u32) {
        return SPUR_OK;
    }
    fail(err, SPUR_E_IO, "cannot move a process into its control group")
}
unsafe extern "C" fn freeze(
    this: *mut spur_plugin,
    scope: *const spur_cgroup_scope,
    frozen: u32,
    stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    with(this, scope, err, |groups, scope| groups.freeze(scope, frozen != 0, &Stop::new(stop)))
}
unsafe extern "C" fn signal(
    this: *mut spur_plugin,
    scope: *const spur_cgroup_scope,
    number: i32,
    stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    with(this, scope, err, |groups, scope| groups.signal(scope, number, &Stop::new(stop)))
}
unsafe extern "C" fn open_scope(
    this: *mut spur_plugin,
    scope: *const spur_cgroup_scope,
    fd: *mut i32,
    err: *mut spur_error,
) -> spur_status {
    with(this, scope, err, |groups, scope| {
        *fd = groups.open_for_clone(scope)?;
        Ok(())
    })
}
unsafe extern "C" fn usage(
    this: *mut spur_plugin,
    scope: *const spur_cgroup_scope,
    out: *mut spur_cgroup_usage,
    err: *mut spur_error,
) -> spur_status {
    with(this, scope, err, |groups, scope| {
        let processes = processes_below(&groups.path_of(scope))?.len() as u32;
        put(out, &spur_cgroup_usage { processes, ..spur_cgroup_usage::EMPTY });
        Ok(())
    })
}
unsafe extern "C" fn processes(
    this: *mut spur_plugin,
    scope: *const spur_cgroup_scope,
    context: *mut c_void,
    each: Option<unsafe extern "C" fn(*mut c_void, i32)>,
    err: *mut spur_error,
) -> spur_status {
    with(this, scope, err, |groups, scope| {
        for pid in processes_below(&groups.path_of(scope))? {
            each.unwrap()(context, pid);
        }
        Ok(())
    })
}
unsafe extern "C" fn remove(this: *mut spur_plugin, scope: *const spur_cgroup_scope, err: *mut spur_error) -> spur_status {
    with(this, scope, err, |groups, scope| groups.remove(scope))
}

unsafe extern "C" fn create(
    _host: *const spur_host,
    config: *const spur_config,
    out: *mut *mut spur_plugin,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let root = text_option(config, "root")?;
        if root.len() > LONGEST_ROOT {
            return Err(failure(SPUR_E_INVALID, "the option \"root\" is too long for a path"));
        }
        let path = PathBuf::from(OsString::from_vec(root.clone()));
        let made = fs::create_dir(&path);
        if let Err(error) = &made {
            if error.kind() != ErrorKind::AlreadyExists {
                let text = format!("cannot make the control group {}: {}", path.display(), error);
                return Err(failure(SPUR_E_UNAVAILABLE, text));
            }
        }
        if fs::OpenOptions::new().write(true).open(path.join("cgroup.procs")).is_err() {
            if made.is_ok() {
                let _ = fs::remove_dir(&path);
            }
            let text = format!("{} is not a writable control group of version 2", path.display());
            return Err(failure(SPUR_E_UNAVAILABLE, text));
        }
        Ok(hand_over(Groups { root }, out))
    })
}

unsafe extern "C" fn destroy(this: *mut spur_plugin) {
    take_back::<Groups>(this)
}

static OPS: Shared<spur_cgroup_ops> = Shared(spur_cgroup_ops {
    size: size_of::<spur_cgroup_ops>(),
    capabilities: Some(capabilities),
    make: Some(make),
    attach: Some(attach),
    freeze: Some(freeze),
    signal: Some(signal),
    usage: Some(usage),
    processes: Some(processes),
    remove: Some(remove),
    open: Some(open_scope),
    scopes: None, // optional: what a daemon that died has left is then found by other means
    ..spur_cgroup_ops::EMPTY
});
static OPTIONS: Shared<[spur_option; 1]> = Shared([declare(
    b"root\0",
    SPUR_OPTION_PATH,
    Some(b"/sys/fs/cgroup/spur\0"),
    b"the control group below which scopes are made\0",
)]);

spur_plugin! {
    b"@TYPE@\0", b"a control group for each step; contains and freezes, limits nothing\0", SPUR_CGROUP_IFACE, OPS, OPTIONS
}

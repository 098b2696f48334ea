// @TYPE@ - accelerators found by their device files: every <prefix><number> in a directory is one.
mod spur;
mod sugar;

use spur::*;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use sugar::*;

struct Devices {
    directory: PathBuf,
    prefix: Vec<u8>,
    kind: Vec<u8>,
    variable: Vec<u8>,
}

// ---- the policy ----

impl Devices {
    /// Numbers of the devices that are there, in order.
    fn scan(&self) -> std::io::Result<Vec<u32>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&self.directory)? {
            let entry = entry?;
            let number = entry.file_name().as_bytes().strip_prefix(&self.prefix[..]).and_then(number_in);
            found.extend(number.filter(|&number| self.path_of(number) == entry.path()));
        }
        found.sort_unstable();
        Ok(found)
    }

    fn path_of(&self, number: u32) -> PathBuf {
        let name = [&self.prefix[..], number.to_string().as_bytes()].concat();
        self.directory.join(OsString::from_vec(name))
    }
}

fn number_in(text: &[u8]) -> Option<u32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

// ---- the boundary ----

unsafe extern "C" fn scan(
    this: *mut spur_plugin,
    sink: *const spur_gpu_sink,
    _stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let devices = instance::<Devices>(this);
        let numbers = devices.scan().map_err(|error| {
            failure(SPUR_E_IO, format!("cannot read {}: {}", devices.directory.display(), error))
        })?;
        for index in numbers {
            let path = devices.path_of(index);
            let (path, kind) = (borrowed(path.as_os_str().as_bytes()), borrowed(&devices.kind));
            let device = spur_gpu_device {
                size: size_of::<spur_gpu_device>(),
                index,
                numa_node: SPUR_NONE,
                health: SPUR_GPU_HEALTHY,
                key: path,
                r#type: kind,
                model: kind,
                device_files: path,
                ..spur_gpu_device::EMPTY
            };
            (*sink).device.unwrap()(sink, &device);
        }
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn bind(
    this: *mut spur_plugin,
    binding: *const spur_gpu_binding,
    sink: *const spur_gpu_env_sink,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let devices = instance::<Devices>(this);
        let here = devices.scan().map_err(|error| failure(SPUR_E_IO, error.to_string()))?;
        // Where others are hidden, the library numbers what is left from 0.
        let renumbered = (*binding).flags & SPUR_GPU_ISOLATED != 0;
        let mut list = Vec::new();
        for (place, grant) in records::<spur_gpu_grant>((*binding).grants).enumerate() {
            let key = bytes(grant.key);
            let number = here.iter().copied().find(|&number| devices.path_of(number).as_os_str().as_bytes() == key);
            let number = number.ok_or_else(|| {
                failure(SPUR_E_NOT_FOUND, format!("device {} is not there", String::from_utf8_lossy(key)))
            })?;
            (*sink).device_file.unwrap()(sink, grant.key);
            list.push(if renumbered { place as u32 } else { number }.to_string());
        }
        (*sink).variable.unwrap()(sink, borrowed(&devices.variable), borrowed(list.join(",").as_bytes()));
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn create(
    _host: *const spur_host,
    config: *const spur_config,
    out: *mut *mut spur_plugin,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let directory = PathBuf::from(OsString::from_vec(text_option(config, "directory")?));
        if !Path::new(&directory).is_dir() {
            let text = format!("no accelerators: {} is not a directory", directory.display());
            return Err(failure(SPUR_E_UNAVAILABLE, text));
        }
        let made = Devices {
            directory,
            prefix: text_option(config, "prefix")?,
            kind: text_option(config, "type")?,
            variable: text_option(config, "variable")?,
        };
        Ok(hand_over(made, out))
    })
}

unsafe extern "C" fn destroy(this: *mut spur_plugin) {
    take_back::<Devices>(this)
}

static OPS: Shared<spur_gpu_ops> = Shared(spur_gpu_ops {
    size: size_of::<spur_gpu_ops>(),
    scan: Some(scan),
    bind: Some(bind),
    ..spur_gpu_ops::EMPTY
});
static OPTIONS: Shared<[spur_option; 4]> = Shared([
    declare(b"directory\0", SPUR_OPTION_PATH, Some(b"/dev/accel\0"), b"where the device files are\0"),
    declare(b"prefix\0", SPUR_OPTION_STRING, Some(b"accel\0"), b"their names without the number\0"),
    declare(b"type\0", SPUR_OPTION_STRING, Some(b"accel\0"), b"what jobs ask for: gres=gpu:<type>\0"),
    declare(
        b"variable\0",
        SPUR_OPTION_STRING,
        Some(b"ACCEL_VISIBLE_DEVICES\0"),
        b"environment variable that tells a job its devices\0",
    ),
]);

spur_plugin! { b"@TYPE@\0", b"accelerators found by their device files\0", SPUR_GPU_IFACE, OPS, OPTIONS }

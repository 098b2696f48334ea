// @TYPE@ - appends every row to a journal: "cluster<TAB>stream<TAB>sequence<TAB>table<TAB>removed<TAB>name=value...", whole batches.
mod spur;
mod sugar;

use spur::*;
use std::collections::BTreeMap;
use std::ffi::{CStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Mutex;
use sugar::*;

struct Journal {
    path: PathBuf,
    file: File,
    stored: BTreeMap<Vec<u8>, u64>, // highest sequence by cluster and stream
}

// ---- the policy ----

impl Journal {
    /// Reads the sequences back and cuts off a line that a crash left unfinished.
    fn open(path: PathBuf) -> std::io::Result<Journal> {
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path)?;
        let mut stored = BTreeMap::new();
        let (mut whole, mut line, mut reader) = (0, Vec::new(), BufReader::new(&file));
        while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            whole += line.len() as u64;
            let mut words = line.split(|&byte| byte == b'\t');
            if let (Some(cluster), Some(stream), Some(sequence)) = (words.next(), words.next(), words.next()) {
                let sequence = std::str::from_utf8(sequence).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
                let highest = stored.entry([cluster, stream].join(&b'\t')).or_insert(0);
                *highest = sequence.max(*highest);
            }
            line.clear();
        }
        file.set_len(whole)?;
        Ok(Journal { path, file, stored })
    }

    /// All rows or none, durable on return. Rows stored before are left out. The last line of a batch has its last number,
    /// whether there is a row for it or not.
    unsafe fn store(&mut self, batch: &spur_batch) -> std::io::Result<()> {
        let name = name_of(bytes(batch.cluster), bytes(batch.stream));
        let highest = self.stored.get(&name).copied().unwrap_or(0);
        let stored_to = if batch.first == 0 { 0 } else { highest };
        let mut lines = Vec::new();
        for row in records::<spur_row>(batch.rows) {
            if row.sequence != 0 && row.sequence <= stored_to {
                continue;
            }
            lines.extend(&name);
            write!(lines, "\t{}\t{}\t{}", row.sequence, row.table, row.removed)?;
            for field in records::<spur_field>(row.fields) {
                put_field(&mut lines, field)?;
            }
            lines.push(b'\n');
        }
        if batch.last > stored_to {
            lines.extend(&name);
            writeln!(lines, "\t{}\t0\t0", batch.last)?;
        }
        let before = self.file.metadata()?.len();
        if let Err(error) = self.file.write_all(&lines).and_then(|_| self.file.sync_data()) {
            let _ = self.file.set_len(before); // if that fails too, the next start cuts off what is unfinished
            return Err(error);
        }
        self.stored.insert(name, highest.max(batch.last));
        Ok(())
    }
}

/// "cluster<TAB>stream" as the journal has it.
fn name_of(cluster: &[u8], stream: &[u8]) -> Vec<u8> {
    let mut name = Vec::new();
    put_escaped(&mut name, cluster);
    name.push(b'\t');
    put_escaped(&mut name, stream);
    name
}

/// Tabs, newlines and backslashes would break the format.
fn put_escaped(line: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        match byte {
            b'\t' => line.extend(b"\\t"),
            b'\n' => line.extend(b"\\n"),
            b'\\' => line.extend(b"\\\\"),
            _ => line.push(byte),
        }
    }
}

unsafe fn put_field(line: &mut Vec<u8>, field: &spur_field) -> std::io::Result<()> {
    line.push(b'\t');
    line.extend(CStr::from_ptr(field.name).to_bytes());
    line.push(b'=');
    match field.kind {
        SPUR_FIELD_INT => write!(line, "{}", field.integer)?,
        SPUR_FIELD_REAL => write!(line, "{}", field.real)?,
        SPUR_FIELD_TEXT | SPUR_FIELD_BYTES => put_escaped(line, bytes(field.text)),
        SPUR_FIELD_TRES => {
            for (number, one) in records::<spur_tres>(field.tres).enumerate() {
                if number > 0 {
                    line.push(b',');
                }
                put_escaped(line, bytes(one.name));
                write!(line, "={}", one.count)?;
            }
        }
        _ => {}
    }
    Ok(())
}

// ---- the boundary ----

type Instance = Mutex<Journal>;

unsafe extern "C" fn schema(
    _this: *mut spur_plugin,
    out: *mut spur_schema,
    _stop: *const spur_stop,
    _err: *mut spur_error,
) -> spur_status {
    caught(SPUR_E_INTERNAL, || {
        put(out, &spur_schema { state: SPUR_SCHEMA_CURRENT, found: 1, known: 1, ..spur_schema::EMPTY }); // lines have none
        SPUR_OK
    })
}

unsafe extern "C" fn migrate(
    _this: *mut spur_plugin,
    _progress: *const spur_progress,
    _stop: *const spur_stop,
    _err: *mut spur_error,
) -> spur_status {
    SPUR_OK
}

unsafe extern "C" fn store(
    this: *mut spur_plugin,
    batch: *const spur_batch,
    _report: *const spur_store_report, // every row can be a line
    _stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let mut journal = instance::<Instance>(this).lock().unwrap();
        journal.store(&*batch).map_err(|error| {
            failure(SPUR_E_IO, format!("cannot write to the journal {}: {}", journal.path.display(), error))
        })?;
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn stored_up_to(
    this: *mut spur_plugin,
    cluster: spur_str,
    stream: spur_str,
    from: u64,
    up_to: *mut u64,
    _stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let journal = instance::<Instance>(this).lock().unwrap();
        let highest = journal.stored.get(&name_of(bytes(cluster), bytes(stream))).copied().unwrap_or(0);
        *up_to = highest.max(from.saturating_sub(1));
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn query_rows(
    _this: *mut spur_plugin,
    _query: *const spur_query,
    _sink: *const spur_row_sink,
    _stop: *const spur_stop,
    _err: *mut spur_error,
) -> spur_status {
    SPUR_OK
}

unsafe extern "C" fn create(
    host: *const spur_host,
    config: *const spur_config,
    out: *mut *mut spur_plugin,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let mut path = text_option(config, "file")?;
        if path.is_empty() {
            path = host_fact(host, b"state_dir\0");
            if path.is_empty() {
                return Err(failure(SPUR_E_INVALID, "no place for the journal: set the option \"file\""));
            }
            path.extend(b"/accounting.journal");
        }
        let path = PathBuf::from(OsString::from_vec(path));
        let journal = Journal::open(path.clone())
            .map_err(|error| failure(SPUR_E_IO, format!("cannot open the journal {}: {}", path.display(), error)))?;
        Ok(hand_over(Instance::new(journal), out))
    })
}

unsafe extern "C" fn destroy(this: *mut spur_plugin) {
    take_back::<Instance>(this)
}

static OPS: Shared<spur_accounting_ops> = Shared(spur_accounting_ops {
    size: size_of::<spur_accounting_ops>(),
    features: SPUR_ACCOUNTING_DISCARDS,
    schema: Some(schema),
    migrate: Some(migrate),
    store: Some(store),
    stored_up_to: Some(stored_up_to),
    query: Some(query_rows),
    ..spur_accounting_ops::EMPTY
});
static OPTIONS: Shared<[spur_option; 1]> = Shared([declare(
    b"file\0",
    SPUR_OPTION_PATH,
    None,
    b"the journal; by default accounting.journal in the state directory\0",
)]);

spur_plugin! { b"@TYPE@\0", b"appends every row to a journal of text lines\0", SPUR_ACCOUNTING_IFACE, OPS, OPTIONS }

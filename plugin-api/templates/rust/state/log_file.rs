// Entries in one file, a snapshot in another.
//
// A record is index, length and checksum (64 bits each), then the body. A record that does not check out is where a crash
// struck: it and all behind it were never acknowledged.
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Result, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

pub struct LogFile {
    directory: PathBuf,
    file: File,
    pending: Vec<u8>, // records not written yet
    pub last_index: u64,
    pub snapshot_index: u64,
    pub bytes: u64,
    pub syncs: u64,
}

const HEADER: usize = 24;

fn checksum_of(index: u64, body: &[u8]) -> u64 {
    let start = 0xcbf29ce484222325 ^ index ^ (body.len() as u64) << 32; // FNV-1a
    body.iter().fold(start, |hash, &byte| (hash ^ byte as u64).wrapping_mul(0x100000001b3))
}

fn add_record(out: &mut Vec<u8>, index: u64, body: &[u8]) {
    for number in [index, body.len() as u64, checksum_of(index, body)] {
        out.extend(number.to_le_bytes());
    }
    out.extend(body);
}

/// Calls `each` for the good records at the front of `all`; their length.
fn read_records(all: &[u8], mut each: impl FnMut(u64, &[u8])) -> usize {
    let mut at = 0;
    while all.len() - at >= HEADER {
        let number = |i: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&all[at + 8 * i..at + 8 * i + 8]);
            u64::from_le_bytes(eight)
        };
        let (index, length, checksum) = (number(0), number(1), number(2));
        if length > (all.len() - at - HEADER) as u64 {
            break;
        }
        let body = &all[at + HEADER..at + HEADER + length as usize];
        if checksum != checksum_of(index, body) {
            break;
        }
        each(index, body);
        at += HEADER + body.len();
    }
    at
}

fn open_log(directory: &Path) -> Result<File> {
    OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(directory.join("log"))
}

impl LogFile {
    pub fn open(directory: &Path) -> Result<LogFile> {
        fs::create_dir_all(directory)?;
        let mut snapshot_index = 0;
        for entry in fs::read_dir(directory)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("snapshot.")).and_then(|text| text.parse().ok());
            snapshot_index = number.unwrap_or(0).max(snapshot_index);
        }
        Ok(LogFile {
            directory: directory.to_path_buf(),
            file: open_log(directory)?,
            pending: Vec::new(),
            last_index: snapshot_index,
            snapshot_index,
            bytes: 0,
            syncs: 0,
        })
    }

    /// "<directory>/snapshot.<index>"; index 0 is the draft to write into before adopt_snapshot().
    pub fn snapshot_path(&self, index: u64) -> PathBuf {
        let name = if index == 0 { "snapshot.draft".to_string() } else { format!("snapshot.{}", index) };
        self.directory.join(name)
    }

    /// Calls `each` for every entry behind the snapshot and cuts off what is torn.
    pub fn recover(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<()> {
        let mut all = Vec::new();
        (&self.file).read_to_end(&mut all)?;
        let (snapshot, mut last) = (self.snapshot_index, self.last_index);
        self.bytes = read_records(&all, |index, body| {
            if index > snapshot {
                last = index;
                each(index, body);
            }
        }) as u64;
        self.last_index = last;
        self.file.set_len(self.bytes)?;
        self.file.sync_all()
    }

    /// The new entry's index. Not durable before sync().
    pub fn append(&mut self, body: &[u8]) -> u64 {
        self.last_index += 1;
        add_record(&mut self.pending, self.last_index, body);
        self.last_index
    }

    pub fn sync(&mut self) -> Result<()> {
        (&self.file).write_all(&self.pending)?;
        self.file.sync_data()?;
        self.bytes += self.pending.len() as u64;
        self.pending.clear();
        self.syncs += 1;
        Ok(())
    }

    /// Makes the draft count and drops the entries it covers.
    pub fn adopt_snapshot(&mut self, index: u64) -> Result<()> {
        fs::rename(self.snapshot_path(0), self.snapshot_path(index))?;
        let (all, mut rest) = (fs::read(self.directory.join("log"))?, Vec::new());
        read_records(&all, |at, body| {
            if at > index {
                add_record(&mut rest, at, body);
            }
        });
        let draft = self.directory.join("log.draft");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(&rest)?;
        file.sync_all()?;
        fs::rename(draft, self.directory.join("log"))?;
        File::open(&self.directory)?.sync_all()?; // a rename is durable when its directory is
        if self.snapshot_index != 0 && self.snapshot_index != index {
            fs::remove_file(self.snapshot_path(self.snapshot_index))?;
        }
        self.snapshot_index = index;
        self.bytes = rest.len() as u64;
        self.file = open_log(&self.directory)?;
        Ok(())
    }
}

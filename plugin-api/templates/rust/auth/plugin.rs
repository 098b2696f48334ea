// @TYPE@ - credentials signed with a shared key: "uid.gid.time.nonce.signature", signed together with the request.
mod hmac;
mod spur;
mod sugar;

use spur::*;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::raw::c_char;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use sugar::*;

struct Auth {
    key: Vec<u8>,
    lifetime_s: i64,
}

extern "C" {
    fn geteuid() -> u32;
    fn getegid() -> u32;
}

// ---- the policy ----

impl Auth {
    /// The signature covers the claims and the request they are for.
    fn sign(&self, claims: &[u8], request: &spur_auth_request) -> String {
        let text = [claims, b"\n", &request.binding].concat();
        hmac::hmac_sha256(&self.key, &text).iter().map(|byte| format!("{:02x}", byte)).collect()
    }

    fn verify(&self, request: &spur_auth_request, credential: &[u8]) -> Result<(u32, u32, i64), &'static str> {
        let dot = credential.iter().rposition(|&byte| byte == b'.').ok_or("the credential is not one of ours")?;
        let (claims, signature) = (&credential[..dot], &credential[dot + 1..]);
        if claims.len() > 128 || !equal(signature, self.sign(claims, request).as_bytes()) {
            return Err("the signature is wrong: another key, another request, or a changed credential");
        }
        let nonsense = "the credential is signed but makes no sense";
        let mut words = std::str::from_utf8(claims).map_err(|_| nonsense)?.split('.');
        let mut next = || words.next().and_then(|word| word.parse::<i64>().ok()).ok_or(nonsense);
        let (uid, gid, issued) = (next()?, next()?, next()?);
        let age = now_s() - issued;
        if age > self.lifetime_s || age < -self.lifetime_s {
            return Err("the credential has expired, or the clocks of the two hosts differ");
        }
        Ok((uid as u32, gid as u32, issued))
    }
}

/// Takes the same time wherever they differ.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |different, (x, y)| different | (x ^ y)) == 0
}

fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs() as i64).unwrap_or(0)
}

fn random_bytes<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut random = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(random)
}

/// The key in `path`; made on first use. Others must not be able to read it.
fn load_key(path: &Path) -> Answer<Vec<u8>> {
    let shown = path.display();
    if let Ok(mut file) = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        let written = random_bytes::<32>().and_then(|key| file.write_all(&key));
        written.map_err(|error| failure(SPUR_E_IO, format!("cannot write the key file {}: {}", shown, error)))?;
    }
    let unreadable = |error| failure(SPUR_E_UNAVAILABLE, format!("cannot read the key file {}: {}", shown, error));
    if fs::metadata(path).map_err(unreadable)?.mode() & 0o077 != 0 {
        return Err(failure(SPUR_E_INVALID, format!("the key file {} can be read by others; chmod 600 it", shown)));
    }
    let mut key = Vec::new();
    File::open(path).and_then(|file| file.take(1024).read_to_end(&mut key)).map_err(unreadable)?;
    if key.len() < 32 {
        return Err(failure(SPUR_E_INVALID, format!("the key file {} holds less than 32 bytes", shown)));
    }
    Ok(key)
}

// ---- the boundary ----

unsafe extern "C" fn make(
    this: *mut spur_plugin,
    request: *const spur_auth_request,
    out: *const spur_sink,
    _stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let nonce = random_bytes::<8>()
            .map_err(|error| failure(SPUR_E_INTERNAL, format!("the system gave no random numbers: {}", error)))?;
        let claims = format!("{}.{}.{}.{:016x}", geteuid(), getegid(), now_s(), u64::from_ne_bytes(nonce));
        let signature = instance::<Auth>(this).sign(claims.as_bytes(), &*request);
        Ok(push(out, format!("{}.{}", claims, signature).as_bytes()))
    })
}

unsafe extern "C" fn verify(
    this: *mut spur_plugin,
    request: *const spur_auth_request,
    credential: spur_str,
    out: *mut spur_identity,
    _claims: *const spur_claims,
    _stop: *const spur_stop,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let auth = instance::<Auth>(this);
        let (uid, gid, issued) = match auth.verify(&*request, bytes(credential)) {
            Ok(claims) => claims,
            Err(why) => return Ok(fail(err, SPUR_AUTH_REFUSED, why)),
        };
        let mut mechanism = [0 as c_char; 32];
        for (place, &byte) in mechanism.iter_mut().zip("@NAME@".as_bytes().iter().take(31)) {
            *place = byte as c_char;
        }
        let expires = issued + auth.lifetime_s;
        put(out, &spur_identity { uid, gid, issued, expires, mechanism, ..spur_identity::EMPTY });
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn create(
    host: *const spur_host,
    config: *const spur_config,
    out: *mut *mut spur_plugin,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let mut path = text_option(config, "key_file")?;
        if path.is_empty() {
            path = host_fact(host, b"state_dir\0");
            if path.is_empty() {
                return Err(failure(SPUR_E_INVALID, "no place for the key: set the option \"key_file\""));
            }
            path.extend(b"/@NAME@.key");
        }
        let key = load_key(&PathBuf::from(OsString::from_vec(path)))?;
        let lifetime_s = integer_option(config, "lifetime")?.min(86400);
        Ok(hand_over(Auth { key, lifetime_s }, out))
    })
}

unsafe extern "C" fn destroy(this: *mut spur_plugin) {
    take_back::<Auth>(this)
}

static OPS: Shared<spur_auth_ops> = Shared(spur_auth_ops {
    size: size_of::<spur_auth_ops>(),
    features: SPUR_AUTH_BINDS_REQUEST | SPUR_AUTH_LOCAL_ONLY,
    make: Some(make),
    verify: Some(verify),
    ..spur_auth_ops::EMPTY
});
static OPTIONS: Shared<[spur_option; 2]> = Shared([
    declare(b"key_file\0", SPUR_OPTION_PATH, None, b"the shared key; by default @NAME@.key in the state directory\0"),
    declare(b"lifetime\0", SPUR_OPTION_DURATION, Some(b"300s\0"), b"how long a credential works; at most a day\0"),
]);

spur_plugin! { b"@TYPE@\0", b"credentials signed with a shared key\0", SPUR_AUTH_IFACE, OPS, OPTIONS }

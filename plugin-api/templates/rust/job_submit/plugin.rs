// @TYPE@ - jobs say how long they may run; long ones go to a partition of their own.
mod spur;
mod sugar;

use spur::*;
use sugar::*;

struct Gate {
    longest_s: i64,
    long_partition: Vec<u8>,
}

// ---- the boundary ----

/// The value of a field by its name; absent where this host has no such field.
unsafe fn get(job: *const spur_record, name: &[u8]) -> spur_value {
    let mut value = spur_value { size: size_of::<spur_value>(), ..spur_value::EMPTY };
    let field = (*job).find.unwrap()(job, borrowed(name));
    if field == SPUR_NONE || (*job).get.unwrap()(job, field, &mut value) != SPUR_OK {
        value.kind = SPUR_VALUE_ABSENT;
    }
    value
}

unsafe fn set_text(job: *const spur_record, name: &[u8], text: &[u8], err: *mut spur_error) -> spur_status {
    let value = spur_value {
        size: size_of::<spur_value>(),
        kind: SPUR_VALUE_TEXT,
        text: borrowed(text),
        ..spur_value::EMPTY
    };
    match (*job).find.unwrap()(job, borrowed(name)) {
        SPUR_NONE => SPUR_E_NOT_FOUND,
        field => (*job).set.unwrap()(job, field, &value, err),
    }
}

// Called on several threads at once: nothing changes after create().
unsafe extern "C" fn submit(
    this: *mut spur_plugin,
    context: *const spur_submit,
    job: *const spur_record,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let gate = instance::<Gate>(this);
        let limit = get(job, b"time_limit");
        if limit.kind == SPUR_VALUE_ABSENT {
            return Err(failure(SPUR_SUBMIT_REFUSED, "Say how long the job may run: --time"));
        }
        if limit.number <= gate.longest_s || gate.long_partition.is_empty() {
            return Ok(SPUR_OK);
        }
        if set_text(job, b"partition", &gate.long_partition, err) != SPUR_OK {
            return Ok(SPUR_E_UNSUPPORTED);
        }
        Ok(push((*context).notes, b"The job runs long and goes to another partition.\n"))
    })
}

unsafe extern "C" fn create(
    _host: *const spur_host,
    config: *const spur_config,
    out: *mut *mut spur_plugin,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let made = Gate {
            longest_s: integer_option(config, "longest")?,
            long_partition: text_option(config, "long_partition")?,
        };
        Ok(hand_over(made, out))
    })
}

unsafe extern "C" fn destroy(this: *mut spur_plugin) {
    take_back::<Gate>(this)
}

static OPS: Shared<spur_job_submit_ops> = Shared(spur_job_submit_ops {
    size: size_of::<spur_job_submit_ops>(),
    submit: Some(submit),
    ..spur_job_submit_ops::EMPTY
});
static OPTIONS: Shared<[spur_option; 2]> = Shared([
    declare(b"longest\0", SPUR_OPTION_DURATION, Some(b"1-00:00:00\0"), b"jobs above it are long\0"),
    declare(b"long_partition\0", SPUR_OPTION_STRING, Some(b"\0"), b"where long jobs go; empty: where they like\0"),
]);

spur_plugin! { b"@TYPE@\0", b"jobs say how long they may run\0", SPUR_JOB_SUBMIT_IFACE, OPS, OPTIONS }

// @TYPE@ - the longer a job has waited, the more it is worth.
mod spur;
mod sugar;

use spur::*;
use sugar::*;

struct ByAge {
    weight: f64,
    max_age_s: f64,
    half_life_s: f64,
}

// ---- the policy ----

impl ByAge {
    fn score(&self, job: &spur_job_view, now: i64, nice: i32) -> spur_priority {
        let waited = now.saturating_sub(job.eligible).max(0) as f64;
        let age = if self.max_age_s > 0.0 { (waited / self.max_age_s).min(1.0) } else { 0.0 };
        let total = (self.weight * age - nice as f64).clamp(1.0, u32::MAX as f64) as u64;
        let mut answer = spur_priority { total, nice: nice as i64, ..spur_priority::EMPTY };
        answer.raw[SPUR_FACTOR_AGE as usize] = age;
        answer.weighted[SPUR_FACTOR_AGE as usize] = self.weight * age;
        answer
    }

    fn decay(&self, seconds: f64) -> f64 {
        if self.half_life_s > 0.0 {
            (-seconds / self.half_life_s).exp2()
        } else {
            1.0
        }
    }
}

// ---- the boundary ----

unsafe extern "C" fn score(
    this: *mut spur_plugin,
    view: *const spur_cluster_view,
    queries: spur_span,
    out: *mut spur_priority,
    out_stride: u32,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        for (i, query) in records::<spur_priority_query>(queries).enumerate() {
            let job = at::<spur_job_view>((*view).pending, query.job);
            let answer = instance::<ByAge>(this).score(job, (*view).now, query.nice);
            put_at(out, out_stride, i, &answer); // the host's records may be longer or shorter than ours
        }
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn decay(this: *mut spur_plugin, seconds: f64) -> f64 {
    instance::<ByAge>(this).decay(seconds)
}

unsafe extern "C" fn weights(this: *mut spur_plugin, out: *mut f64, count: u32) -> spur_status {
    for i in 0..count {
        *out.add(i as usize) = if i == SPUR_FACTOR_AGE { instance::<ByAge>(this).weight } else { 0.0 };
    }
    SPUR_OK
}

unsafe extern "C" fn create(
    _host: *const spur_host,
    config: *const spur_config,
    out: *mut *mut spur_plugin,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let made = ByAge {
            weight: integer_option(config, "weight")? as f64,
            max_age_s: integer_option(config, "max_age")? as f64,
            half_life_s: integer_option(config, "half_life")? as f64,
        };
        Ok(hand_over(made, out))
    })
}

unsafe extern "C" fn destroy(this: *mut spur_plugin) {
    take_back::<ByAge>(this)
}

static OPS: Shared<spur_priority_ops> = Shared(spur_priority_ops {
    size: size_of::<spur_priority_ops>(),
    score: Some(score),
    decay: Some(decay),
    weights: Some(weights),
    ..spur_priority_ops::EMPTY
});

static OPTIONS: Shared<[spur_option; 3]> = Shared([
    spur_option {
        maximum: 1000000,
        ..declare(b"weight\0", SPUR_OPTION_INT, Some(b"1000\0"), b"priority of a job that has waited for max_age\0")
    },
    declare(b"max_age\0", SPUR_OPTION_DURATION, Some(b"7-00:00:00\0"), b"age at which priority stops growing\0"),
    declare(
        b"half_life\0",
        SPUR_OPTION_DURATION,
        Some(b"7-00:00:00\0"),
        b"time in which past usage loses half its weight; 0: never\0",
    ),
]);

spur_plugin! { b"@TYPE@\0", b"the longer a job has waited, the more it is worth\0", SPUR_PRIORITY_IFACE, OPS, OPTIONS }

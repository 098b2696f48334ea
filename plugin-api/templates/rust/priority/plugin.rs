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
    fn age(&self, job: &spur_job_view, now: i64) -> f64 {
        let waited = now.saturating_sub(job.eligible).max(0) as f64;
        if self.max_age_s > 0.0 { (waited / self.max_age_s).min(1.0) } else { 0.0 }
    }

    fn total(&self, points: f64, query: &spur_priority_query) -> spur_priority {
        let sum = points + query.site_factor as f64 - query.nice as f64;
        let exact = sum.clamp(1.0, u32::MAX as f64);
        spur_priority { total: exact as u64, exact, ..spur_priority::EMPTY }
    }

    fn decay(&self, from: i64, to: i64) -> f64 {
        if self.half_life_s > 0.0 && to > from {
            ((from as f64 - to as f64) / self.half_life_s).exp2()
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
    out: *const spur_scores,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let policy = instance::<ByAge>(this);
        for (i, query) in records::<spur_priority_query>(queries).enumerate() {
            let age = policy.age(at::<spur_job_view>((*view).pending, query.job), (*view).now);
            let points = policy.weight * age;
            // The host's records may be longer or shorter than ours.
            put_at((*out).totals, (*out).total_stride, i, &policy.total(points, query));
            if (*out).factor_count > 0 {
                let column = i * (*out).factor_count as usize;
                *(*out).raw.add(column) = age;
                *(*out).weighted.add(column) = points;
            }
        }
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn decay(this: *mut spur_plugin, from: i64, to: i64) -> f64 {
    caught(1.0, || instance::<ByAge>(this).decay(from, to))
}

// One factor. A plugin with several pushes them in the order in which score() writes them.
unsafe extern "C" fn factors(this: *mut spur_plugin, sink: *const spur_factor_sink, err: *mut spur_error) -> spur_status {
    guard(err, || {
        let factor = spur_factor {
            size: size_of::<spur_factor>(),
            name: borrowed(b"age"),
            weight: instance::<ByAge>(this).weight,
            ..spur_factor::EMPTY
        };
        match (*sink).factor {
            Some(push) => Ok(push(sink, &factor)),
            None => Ok(SPUR_OK),
        }
    })
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
    factors: Some(factors),
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

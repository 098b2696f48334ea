// @TYPE@ - first come, first served: a job that must wait holds back those behind it in its partition.
mod spur;
mod sugar;

use spur::*;
use sugar::*;

/// A planner remembers nothing from one cycle to the next; a byte makes instances tell apart.
struct Planner {
    _nothing: u8,
}

/// The selector, its cycle, and memory for its answers.
struct Selector {
    ops: &'static spur_select_ops, // as long as the cycle; may be shorter than ours, so it is never copied
    this: *mut spur_plugin,
    cycle: *mut spur_select_cycle,
    shares: Vec<spur_node_share>,
    gres: Vec<spur_gres_share>,
    words: Vec<u64>,
    answer: spur_placement, // into the three above
}

/// One cycle.
struct Walk<'a> {
    view: &'a spur_cluster_view,
    sink: &'a spur_plan_sink,
    select: Selector,
    blocked: Vec<bool>,   // by partition: somebody in front waits for room
    licenses: Vec<u32>,   // in use, with what this plan started
    candidates: Vec<u64>, // nodes that are not reserved for others
}

const NO_SHARE: spur_node_share =
    spur_node_share { node: 0, cpus: 0, memory_mib: 0, cores: NO_BITS, gres: NO_SPAN, tasks: 0, flags: 0 };
const NO_GRES: spur_gres_share = spur_gres_share { name: 0, r#type: 0, count: 0, devices: NO_BITS };

impl Selector {
    unsafe fn begin(select: &spur_selector, view: *const spur_cluster_view, err: *mut spur_error) -> Result<Selector, spur_status> {
        let mut made = Selector {
            ops: &*select.ops,
            this: select.this,
            cycle: std::ptr::null_mut(),
            shares: vec![NO_SHARE; 64],
            gres: vec![NO_GRES; 64],
            words: vec![0; 256],
            answer: spur_placement::EMPTY,
        };
        match made.ops.begin.unwrap()(made.this, view, &mut made.cycle, err) {
            SPUR_OK => Ok(made),
            status => Err(status),
        }
    }

    /// The verdict, and with SPUR_FITS how many nodes are in `answer`.
    unsafe fn pick(&mut self, job: u32, partition: u32, candidates: &[u64], nodes: u32) -> (spur_status, u32) {
        let question = spur_pick {
            size: size_of::<spur_pick>(),
            job,
            partition,
            slot: 0,
            candidates: spur_bits { words: candidates.as_ptr(), count: nodes, reserved: 0 },
            flags: 0,
            reserved: 0,
            ..spur_pick::EMPTY
        };
        loop {
            self.answer = spur_placement {
                size: size_of::<spur_placement>(),
                share_capacity: self.shares.len() as u32,
                shares: self.shares.as_mut_ptr(),
                gres_capacity: self.gres.len() as u32,
                word_capacity: self.words.len() as u32,
                gres: self.gres.as_mut_ptr(),
                words: self.words.as_mut_ptr(),
                ..spur_placement::EMPTY
            };
            let verdict = self.ops.pick.unwrap()(self.cycle, &question, &mut self.answer);
            let answer = &self.answer;
            if verdict != SPUR_NO_ROOM {
                return (verdict, answer.share_count);
            }
            self.shares.resize(self.shares.len().max(answer.share_wanted as usize), NO_SHARE);
            self.gres.resize(self.gres.len().max(answer.gres_wanted as usize), NO_GRES);
            self.words.resize(self.words.len().max(answer.word_wanted as usize), 0);
        }
    }
}

impl Drop for Selector {
    fn drop(&mut self) {
        unsafe { self.ops.end.unwrap()(self.this, self.cycle) }
    }
}

// ---- the policy ----

impl<'a> Walk<'a> {
    unsafe fn along_the_queue(&mut self) {
        for &slot in records::<u32>(self.view.pending_order) {
            if self.sink.stopped.unwrap()(self.sink) != 0 {
                return;
            }
            if let Err(reason) = self.start_all(slot) {
                self.sink.waits.unwrap()(self.sink, slot, reason, NO_TEXT);
            }
        }
    }

    /// Starts as many tasks as fit, or says why the next one waits.
    unsafe fn start_all(&mut self, slot: u32) -> Result<(), u32> {
        let job = at::<spur_job_view>(self.view.pending, slot);
        for _task in 0..job.array_tasks.max(1) {
            let mut result = Err(SPUR_WAIT_RESOURCES);
            for &partition in records::<u32>(job.partitions) {
                result = self.start_one(slot, job, partition);
                if result.is_ok() {
                    break;
                }
            }
            if result == Err(SPUR_WAIT_RESOURCES) {
                for &partition in records::<u32>(job.partitions) {
                    self.blocked[partition as usize] = true;
                }
            }
            result?;
        }
        Ok(())
    }

    unsafe fn start_one(&mut self, slot: u32, job: &spur_job_view, number: u32) -> Result<(), u32> {
        let partition = at::<spur_partition_view>(self.view.partitions, number);
        let limit_s = self.limit(job, partition)?;
        if self.blocked[number as usize] {
            return Err(SPUR_WAIT_PRIORITY);
        }
        if !self.has_licenses(job) {
            return Err(SPUR_WAIT_LICENSES);
        }
        if self.sink.may_start.unwrap()(self.sink, slot, number) != SPUR_MAY_START {
            return Err(SPUR_WAIT_LIMIT);
        }
        self.find_candidates(job, limit_s)?;
        match self.select.pick(slot, number, &self.candidates, self.view.nodes.count) {
            (SPUR_FITS, count) if count > partition.max_nodes => return Err(SPUR_WAIT_PARTITION_NODE_LIMIT),
            (SPUR_FITS, _) => {}
            (SPUR_NOT_NOW, _) => return Err(SPUR_WAIT_RESOURCES),
            _ if self.view.reservations.count > 0 => return Err(SPUR_WAIT_NODES_UNAVAILABLE),
            _ => return Err(SPUR_WAIT_NEVER),
        }
        if self.sink.start.unwrap()(self.sink, slot, number, &self.select.answer, limit_s) != SPUR_OK {
            return Err(SPUR_WAIT_LIMIT);
        }
        self.select.ops.take.unwrap()(self.select.cycle, 0, &self.select.answer, job.flags);
        for wanted in records::<spur_license_request>(job.licenses) {
            self.licenses[wanted.license as usize] += wanted.count;
        }
        Ok(())
    }

    /// The job's own time limit, cut down to the partition's where the job allows that.
    fn limit(&self, job: &spur_job_view, partition: &spur_partition_view) -> Result<u32, u32> {
        match partition.state {
            SPUR_PARTITION_DOWN => return Err(SPUR_WAIT_PARTITION_DOWN),
            SPUR_PARTITION_INACTIVE => return Err(SPUR_WAIT_PARTITION_INACTIVE),
            _ => {}
        }
        if job.min_nodes > partition.max_nodes {
            return Err(SPUR_WAIT_PARTITION_NODE_LIMIT);
        }
        let mut limit_s = job.limit_s;
        if limit_s > partition.max_time_s {
            if job.limit_min_s == 0 || job.limit_min_s > partition.max_time_s {
                return Err(SPUR_WAIT_PARTITION_TIME_LIMIT);
            }
            limit_s = partition.max_time_s;
        }
        if job.deadline != 0 && self.end_of(limit_s) > job.deadline {
            return Err(SPUR_WAIT_DEADLINE);
        }
        Ok(limit_s)
    }

    fn end_of(&self, limit_s: u32) -> i64 {
        if limit_s == SPUR_UNLIMITED {
            SPUR_TIME_UNLIMITED
        } else {
            self.view.now + limit_s as i64
        }
    }

    unsafe fn has_licenses(&self, job: &spur_job_view) -> bool {
        records::<spur_license_request>(job.licenses).all(|wanted| {
            let license = at::<spur_license_view>(self.view.licenses, wanted.license);
            self.licenses[wanted.license as usize] + wanted.count <= license.total
        })
    }

    /// Nodes of the job's reservation if it has one, else those that are not reserved before it would end.
    unsafe fn find_candidates(&mut self, job: &spur_job_view, limit_s: u32) -> Result<(), u32> {
        let (now, end) = (self.view.now, self.end_of(limit_s));
        self.candidates.fill(u64::MAX);
        if self.view.nodes.count % 64 != 0 {
            *self.candidates.last_mut().unwrap() >>= 64 - self.view.nodes.count % 64;
        }
        for (i, reserved) in records::<spur_reservation_view>(self.view.reservations).enumerate() {
            let mine = job.reservation == i as u32;
            if mine && (now < reserved.start || now >= reserved.end) {
                return Err(SPUR_WAIT_RESERVATION);
            }
            if !mine && (reserved.start >= end || now >= reserved.end) {
                continue;
            }
            for (w, word) in self.candidates.iter_mut().enumerate() {
                let nodes = if w < (reserved.nodes.count as usize + 63) / 64 { *reserved.nodes.words.add(w) } else { 0 };
                *word &= if mine { nodes } else { !nodes };
            }
        }
        Ok(())
    }
}

// ---- the boundary ----

unsafe extern "C" fn plan(
    _this: *mut spur_plugin,
    view: *const spur_cluster_view,
    select: *const spur_selector,
    sink: *const spur_plan_sink,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || {
        let view = &*view;
        let select = match Selector::begin(&*select, view, err) {
            Ok(selector) => selector,
            Err(status) => return Ok(status), // it has filled in err
        };
        let mut walk = Walk {
            view,
            sink: &*sink,
            select,
            blocked: vec![false; view.partitions.count as usize],
            licenses: records::<spur_license_view>(view.licenses).map(|license| license.used).collect(),
            candidates: vec![0; (view.nodes.count as usize + 63) / 64],
        };
        walk.along_the_queue();
        Ok(SPUR_OK)
    })
}

unsafe extern "C" fn create(
    _host: *const spur_host,
    _config: *const spur_config,
    out: *mut *mut spur_plugin,
    err: *mut spur_error,
) -> spur_status {
    guard(err, || Ok(hand_over(Planner { _nothing: 0 }, out)))
}

unsafe extern "C" fn destroy(this: *mut spur_plugin) {
    take_back::<Planner>(this)
}

// Jobs that ask for more, components of heterogeneous jobs for one, are not shown to it: they wait and say for whom.
static OPS: Shared<spur_sched_ops> = Shared(spur_sched_ops {
    size: size_of::<spur_sched_ops>(),
    understands: SPUR_WISH_TIME_MIN | SPUR_WISH_DEADLINE | SPUR_WISH_LICENSES | SPUR_WISH_RESERVATION,
    plan: Some(plan),
    ..spur_sched_ops::EMPTY
});
static OPTIONS: Shared<[spur_option; 0]> = Shared([]);

spur_plugin! { b"@TYPE@\0", b"first come, first served, a partition at a time\0", SPUR_SCHED_IFACE, OPS, OPTIONS }

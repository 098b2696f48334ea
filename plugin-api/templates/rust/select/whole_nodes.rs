// The policy: jobs get whole idle nodes, light ones (low weight) first. pick() allocates nothing: all it needs is made by new().
use crate::spur::*;
use crate::sugar::*;
use std::cmp::Reverse;

pub const SLOTS: u32 = 16;
const MOST_REQUESTS: usize = 16; // generic resources of one job

#[derive(Clone, Copy)]
struct Candidate {
    node: u32,
    weight: u32,
    room: u32, // tasks it can hold
    required: bool,
    liked: bool,
    pooled: u64, // how much it adds to a generic resource counted over the whole job
}

pub struct WholeNodes<'a> {
    view: &'a spur_cluster_view,
    jobs: Vec<i32>, // by slot, then node: how many jobs are there
    candidates: Vec<Candidate>,
}

unsafe fn amount_of(node: &spur_node_view, wanted: &spur_gres_request) -> u64 {
    match records::<spur_gres_view>(node.gres).find(|gres| gres.name == wanted.name) {
        None => 0,
        Some(gres) if gres.devices.count == 0 => gres.total * (wanted.r#type == 0) as u64,
        Some(gres) => records::<spur_device_view>(gres.devices)
            .filter(|device| wanted.r#type == 0 || device.r#type == wanted.r#type)
            .count() as u64,
    }
}

/// How many tasks of `job` the whole of `node` can hold; 0: it cannot serve.
unsafe fn room_on(job: &spur_job_view, node: &spur_node_view) -> u32 {
    let per_task = job.cpus_per_task.max(1) as u64;
    let by_core = job.flags & SPUR_JOB_ONE_THREAD_PER_CORE != 0;
    let places = if by_core { node.cpus / node.threads_per_core.max(1) } else { node.cpus } as u64;
    let too_small = node.cpus < job.min_cpus_per_node
        || node.memory_mib < job.mem_per_node_mib
        || node.tmp_mib < job.tmp_mib
        || node.sockets < job.min_sockets
        || node.cores_per_socket < job.min_cores_per_socket
        || node.threads_per_core < job.min_threads_per_core;
    if too_small {
        return 0;
    }
    let mut room = if job.flags & SPUR_JOB_OVERCOMMIT != 0 { job.tasks.max(1) as u64 } else { places / per_task };
    if job.tasks_per_node != 0 {
        room = room.min(job.tasks_per_node as u64);
    }
    if job.mem_per_cpu_mib != 0 {
        room = room.min(node.memory_mib / (job.mem_per_cpu_mib * per_task));
    }
    for wanted in records::<spur_gres_request>(job.gres) {
        let have = amount_of(node, wanted);
        if wanted.scope == SPUR_GRES_PER_NODE && have < wanted.count {
            return 0;
        }
        if wanted.scope == SPUR_GRES_PER_TASK && wanted.count != 0 {
            room = room.min(have / wanted.count);
        }
    }
    room.min(u32::MAX as u64) as u32
}

impl<'a> WholeNodes<'a> {
    pub unsafe fn new(view: &'a spur_cluster_view) -> WholeNodes<'a> {
        let count = view.nodes.count as usize;
        let mut jobs = vec![0; count * SLOTS as usize];
        for (place, node) in jobs.iter_mut().zip(records::<spur_node_view>(view.nodes)) {
            *place = node.running_jobs as i32;
        }
        WholeNodes { view, jobs, candidates: Vec::with_capacity(count) }
    }

    pub fn copy(&mut self, from: u32, to: u32) {
        let count = self.view.nodes.count as usize;
        let start = from as usize * count;
        self.jobs.copy_within(start..start + count, to as usize * count);
    }

    /// Takes (+1) or gives back (-1).
    pub unsafe fn book(&mut self, slot: u32, placement: *const spur_placement, sign: i32) {
        let start = slot as usize * self.view.nodes.count as usize;
        for share in std::slice::from_raw_parts((*placement).shares, (*placement).share_count as usize) {
            self.jobs[start + share.node as usize] += sign;
        }
    }

    pub unsafe fn pick(&mut self, pick: &spur_pick, out: Option<&mut spur_placement>) -> spur_status {
        let job = at::<spur_job_view>(self.view.pending, pick.job);
        if job.gres.count as usize > MOST_REQUESTS {
            return SPUR_NEVER;
        }
        let as_empty = pick.flags & SPUR_PICK_EMPTY != 0;
        let mut count = if as_empty { 0 } else { self.choose(pick, job, false) };
        if count == 0 {
            count = self.choose(pick, job, true);
            if count == 0 {
                return SPUR_NEVER;
            }
            if !as_empty {
                return SPUR_NOT_NOW;
            }
        }
        match out {
            Some(out) if pick.flags & SPUR_PICK_TEST_ONLY == 0 => self.write(job, count, out),
            _ => SPUR_FITS,
        }
    }

    /// How many of the candidates, from the front, serve the job; 0: not even all of them. Light nodes first; where those
    /// are too small for the number of nodes allowed, roomy ones first.
    unsafe fn choose(&mut self, pick: &spur_pick, job: &spur_job_view, empty: bool) -> usize {
        if !self.gather(pick, job, empty) {
            return 0;
        }
        self.candidates.sort_unstable_by_key(|c| (Reverse(c.required), Reverse(c.liked), c.weight, c.node));
        match self.smallest_prefix(job) {
            0 => {
                let order = |c: &Candidate| (Reverse(c.required), Reverse(c.pooled), Reverse(c.room), c.node);
                self.candidates.sort_unstable_by_key(order);
                self.smallest_prefix(job)
            }
            count => count,
        }
    }

    /// Fills the candidates; false if a node the job insists on is not among them.
    unsafe fn gather(&mut self, pick: &spur_pick, job: &spur_job_view, empty: bool) -> bool {
        let partition = at::<spur_partition_view>(self.view.partitions, pick.partition);
        let start = pick.slot as usize * self.view.nodes.count as usize;
        self.candidates.clear();
        for (n, node) in records::<spur_node_view>(self.view.nodes).enumerate() {
            let number = n as u32;
            let allowed = has_bit(partition.nodes, number)
                && (job.eligible_nodes.words.is_null() || has_bit(job.eligible_nodes, number))
                && (pick.candidates.words.is_null() || has_bit(pick.candidates, number));
            let free = empty || (node.flags & SPUR_NODE_USABLE != 0 && self.jobs[start + n] == 0);
            let required = has_bit(job.required_nodes, number);
            let room = if allowed && free { room_on(job, node) } else { 0 };
            if room == 0 && required {
                return false;
            }
            if room == 0 {
                continue;
            }
            let pooled = records::<spur_gres_request>(job.gres)
                .filter(|wanted| wanted.scope == SPUR_GRES_PER_JOB)
                .map(|wanted| amount_of(node, wanted))
                .sum();
            let liked = has_bit(job.preferred_nodes, number);
            self.candidates.push(Candidate { node: number, weight: node.weight, room, required, liked, pooled });
        }
        true
    }

    unsafe fn smallest_prefix(&self, job: &spur_job_view) -> usize {
        let mut room = 0;
        let mut required_left = self.candidates.iter().filter(|candidate| candidate.required).count();
        for (i, candidate) in self.candidates.iter().take(job.max_nodes as usize).enumerate() {
            room += candidate.room as u64;
            required_left -= candidate.required as usize;
            let enough = i + 1 >= job.min_nodes as usize && room >= job.tasks as u64 && required_left == 0;
            if enough && self.has_pooled(job, i + 1) {
                return i + 1;
            }
        }
        0
    }

    unsafe fn has_pooled(&self, job: &spur_job_view, count: usize) -> bool {
        records::<spur_gres_request>(job.gres).filter(|wanted| wanted.scope == SPUR_GRES_PER_JOB).all(|wanted| {
            let chosen = self.candidates[..count].iter();
            wanted.count <= chosen.map(|one| amount_of(at(self.view.nodes, one.node), wanted)).sum()
        })
    }

    unsafe fn write(&self, job: &spur_job_view, count: usize, out: &mut spur_placement) -> spur_status {
        let mut writer = Writer::new(out);
        let mut tasks_left = if job.tasks > 0 { job.tasks } else { count as u32 };
        let mut pooled_left = [0; MOST_REQUESTS];
        for (left, wanted) in pooled_left.iter_mut().zip(records::<spur_gres_request>(job.gres)) {
            *left = wanted.count;
        }
        for (i, candidate) in self.candidates[..count].iter().enumerate() {
            let node = at::<spur_node_view>(self.view.nodes, candidate.node);
            let later = (count - i - 1) as u32; // each of those wants a task too
            let wish = if tasks_left > later { tasks_left - later } else { tasks_left.min(1) };
            let tasks = candidate.room.min(wish);
            tasks_left -= tasks;
            let mut share = spur_node_share {
                node: candidate.node,
                cpus: node.cpus,
                memory_mib: node.memory_mib,
                cores: writer.copy_bits(node.cores_offered),
                gres: NO_SPAN,
                tasks,
                flags: SPUR_SHARE_WHOLE_NODE,
            };
            for (r, wanted) in records::<spur_gres_request>(job.gres).enumerate() {
                let amount = match wanted.scope {
                    SPUR_GRES_PER_TASK => wanted.count * tasks as u64,
                    SPUR_GRES_PER_JOB => pooled_left[r].min(amount_of(node, wanted)),
                    _ => wanted.count,
                };
                pooled_left[r] -= amount.min(pooled_left[r]);
                writer.add_gres(node, wanted, amount, &mut share);
            }
            writer.add_share(share);
            writer.out.score += node.weight as i64;
        }
        writer.verdict()
    }
}

/// Hands out pieces of the caller's buffers; past their end it only counts.
struct Writer<'a> {
    out: &'a mut spur_placement,
}

impl<'a> Writer<'a> {
    fn new(out: &'a mut spur_placement) -> Writer<'a> {
        out.share_count = 0;
        out.share_wanted = 0;
        out.gres_count = 0;
        out.gres_wanted = 0;
        out.word_count = 0;
        out.word_wanted = 0;
        out.score = 0;
        Writer { out }
    }

    fn verdict(&self) -> spur_status {
        let out = &self.out;
        let complete = out.share_wanted == out.share_count
            && out.gres_wanted == out.gres_count
            && out.word_wanted == out.word_count;
        if complete {
            SPUR_FITS
        } else {
            SPUR_NO_ROOM
        }
    }

    /// Words for `bits` bits, all zero.
    unsafe fn words(&mut self, bits: u32) -> Option<*mut u64> {
        let (count, start) = ((bits + 63) / 64, self.out.word_wanted);
        self.out.word_wanted += count;
        if self.out.word_wanted > self.out.word_capacity {
            return None;
        }
        self.out.word_count = self.out.word_wanted;
        let place = self.out.words.add(start as usize);
        std::ptr::write_bytes(place, 0, count as usize);
        Some(place)
    }

    unsafe fn copy_bits(&mut self, bits: spur_bits) -> spur_bits {
        match self.words(bits.count) {
            Some(place) => {
                std::ptr::copy_nonoverlapping(bits.words, place, (bits.count as usize + 63) / 64);
                spur_bits { words: place, count: bits.count, reserved: 0 }
            }
            None => NO_BITS,
        }
    }

    unsafe fn add_share(&mut self, share: spur_node_share) {
        if self.out.share_wanted < self.out.share_capacity {
            *self.out.shares.add(self.out.share_wanted as usize) = share;
            self.out.share_count += 1;
        }
        self.out.share_wanted += 1;
    }

    /// The first `amount` devices of the right type that this share does not have yet.
    unsafe fn add_gres(
        &mut self,
        node: &spur_node_view,
        wanted: &spur_gres_request,
        amount: u64,
        share: &mut spur_node_share,
    ) {
        let found = records::<spur_gres_view>(node.gres).find(|gres| gres.name == wanted.name);
        let (gres, start) = match found {
            Some(gres) if amount > 0 => (gres, self.out.gres_wanted),
            _ => return,
        };
        let words = self.words(gres.devices.count);
        self.out.gres_wanted += 1;
        let words = match words {
            Some(words) if start < self.out.gres_capacity => words,
            _ => return,
        };
        let mut left = amount;
        for (d, device) in records::<spur_device_view>(gres.devices).enumerate() {
            let fits = wanted.r#type == 0 || device.r#type == wanted.r#type;
            let taken = records::<spur_gres_share>(share.gres)
                .any(|earlier| earlier.name == wanted.name && has_bit(earlier.devices, d as u32));
            if left > 0 && fits && !taken {
                *words.add(d / 64) |= 1 << (d % 64);
                left -= 1;
            }
        }
        let entry = self.out.gres.add(start as usize);
        let devices = spur_bits { words, count: gres.devices.count, reserved: 0 };
        *entry = spur_gres_share { name: wanted.name, r#type: wanted.r#type, count: amount, devices };
        self.out.gres_count += 1;
        if share.gres.count == 0 {
            share.gres = spur_span { data: entry as *const _, count: 0, stride: size_of::<spur_gres_share>() };
        }
        share.gres.count += 1;
    }
}

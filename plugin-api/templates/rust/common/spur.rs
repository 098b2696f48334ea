// spur.rs - the public headers of Spur plugins in Rust. Generated from the C headers by plugin-api/abi/rust: do not edit.
// What each thing means is written in the headers, spur/plugin/*.h.
#![allow(non_camel_case_types, dead_code)]

use std::os::raw::{c_char, c_void};

pub type spur_status = i32;

pub type spur_module_v1_fn = unsafe extern "C" fn() -> *const spur_module;

pub type spur_task = unsafe extern "C" fn(argument: *mut c_void);

pub type spur_blocking_task = unsafe extern "C" fn(argument: *mut c_void, stop: *const spur_stop);

pub type spur_watcher = unsafe extern "C" fn(argument: *mut c_void, events: u32);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_error {
    pub size: u32,
    pub code: spur_status,
    pub text: [c_char; 248],
}
impl spur_error {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_error = spur_error {
        size: 0,
        code: 0,
        text: [0; 248],
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_span {
    pub data: *const c_void,
    pub count: u32,
    pub stride: u32,
}
impl spur_span {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_span = spur_span {
        data: std::ptr::null(),
        count: 0,
        stride: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_str {
    pub data: *const c_char,
    pub length: u32,
    pub reserved: u32,
}
impl spur_str {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_str = spur_str {
        data: std::ptr::null(),
        length: 0,
        reserved: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_bytes {
    pub data: *const c_void,
    pub length: u64,
}
impl spur_bytes {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_bytes = spur_bytes {
        data: std::ptr::null(),
        length: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_bits {
    pub words: *const u64,
    pub count: u32,
    pub reserved: u32,
}
impl spur_bits {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_bits = spur_bits {
        words: std::ptr::null(),
        count: 0,
        reserved: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_sink {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub write: Option<unsafe extern "C" fn(sink: *const spur_sink, data: *const c_void, length: u64) -> spur_status>,
}
impl spur_sink {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_sink = spur_sink {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        write: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_source {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub read: Option<unsafe extern "C" fn(source: *const spur_source, buffer: *mut c_void, capacity: u64, length: *mut u64) -> spur_status>,
}
impl spur_source {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_source = spur_source {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        read: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_stop {
    pub size: u32,
    pub fd: i32,
    pub deadline_ns: i64,
    pub context: *mut c_void,
    pub stopped: Option<unsafe extern "C" fn(stop: *const spur_stop) -> u32>,
}
impl spur_stop {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_stop = spur_stop {
        size: 0,
        fd: 0,
        deadline_ns: 0,
        context: std::ptr::null_mut(),
        stopped: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_option {
    pub key: *const c_char,
    pub kind: u32,
    pub flags: u32,
    pub fallback: *const c_char,
    pub help: *const c_char,
    pub choices: *const c_char,
    pub minimum: i64,
    pub maximum: i64,
}
impl spur_option {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_option = spur_option {
        key: std::ptr::null(),
        kind: 0,
        flags: 0,
        fallback: std::ptr::null(),
        help: std::ptr::null(),
        choices: std::ptr::null(),
        minimum: 0,
        maximum: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_config_value {
    pub key: *const c_char,
    pub kind: u32,
    pub is_default: u32,
    pub integer: i64,
    pub real: f64,
    pub text: *const c_char,
    pub list: *const *const c_char,
    pub list_count: u32,
    pub line: u32,
}
impl spur_config_value {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_config_value = spur_config_value {
        key: std::ptr::null(),
        kind: 0,
        is_default: 0,
        integer: 0,
        real: 0.0,
        text: std::ptr::null(),
        list: std::ptr::null(),
        list_count: 0,
        line: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_config {
    pub size: u32,
    pub reserved: u32,
    pub values: spur_span,
    pub source: *const c_char,
}
impl spur_config {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_config = spur_config {
        size: 0,
        reserved: 0,
        values: spur_span::EMPTY,
        source: std::ptr::null(),
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_host {
    pub size: u32,
    pub reserved: u32,
    pub program: *const c_char,
    pub version: *const c_char,
    pub service: Option<unsafe extern "C" fn(host: *const spur_host, id: *const c_char) -> *const c_void>,
    pub context: *mut c_void,
}
impl spur_host {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_host = spur_host {
        size: 0,
        reserved: 0,
        program: std::ptr::null(),
        version: std::ptr::null(),
        service: None,
        context: std::ptr::null_mut(),
    };
}

#[repr(C)]
pub struct spur_plugin {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_plugin_desc {
    pub size: u32,
    pub reserved: u32,
    pub r#type: *const c_char,
    pub version: *const c_char,
    pub vendor: *const c_char,
    pub summary: *const c_char,
    pub options: *const spur_option,
    pub option_count: u32,
    pub option_stride: u32,
    pub interfaces: *const *const c_char,
    pub create: Option<unsafe extern "C" fn(host: *const spur_host, config: *const spur_config, out: *mut *mut spur_plugin, err: *mut spur_error) -> spur_status>,
    pub destroy: Option<unsafe extern "C" fn(this: *mut spur_plugin)>,
    pub query: Option<unsafe extern "C" fn(this: *mut spur_plugin, id: *const c_char) -> *const c_void>,
}
impl spur_plugin_desc {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_plugin_desc = spur_plugin_desc {
        size: 0,
        reserved: 0,
        r#type: std::ptr::null(),
        version: std::ptr::null(),
        vendor: std::ptr::null(),
        summary: std::ptr::null(),
        options: std::ptr::null(),
        option_count: 0,
        option_stride: 0,
        interfaces: std::ptr::null(),
        create: None,
        destroy: None,
        query: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_module {
    pub size: u32,
    pub abi: u32,
    pub built_with: *const c_char,
    pub plugins: *const *const spur_plugin_desc,
}
impl spur_module {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_module = spur_module {
        size: 0,
        abi: 0,
        built_with: std::ptr::null(),
        plugins: std::ptr::null(),
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_log {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub write: Option<unsafe extern "C" fn(log: *const spur_log, level: u32, text: spur_str)>,
    pub enabled: Option<unsafe extern "C" fn(log: *const spur_log, level: u32) -> u32>,
}
impl spur_log {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_log = spur_log {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        write: None,
        enabled: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_clock {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub unix_ns: Option<unsafe extern "C" fn(clock: *const spur_clock) -> i64>,
    pub monotonic_ns: Option<unsafe extern "C" fn(clock: *const spur_clock) -> i64>,
}
impl spur_clock {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_clock = spur_clock {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        unix_ns: None,
        monotonic_ns: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_config_service {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub get: Option<unsafe extern "C" fn(service: *const spur_config_service, key: *const c_char, sink: *const spur_sink) -> spur_status>,
}
impl spur_config_service {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_config_service = spur_config_service {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        get: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_executor {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub post: Option<unsafe extern "C" fn(executor: *const spur_executor, run: spur_task, drop: spur_task, argument: *mut c_void) -> spur_status>,
    pub post_blocking: Option<unsafe extern "C" fn(executor: *const spur_executor, run: spur_blocking_task, drop: spur_task, argument: *mut c_void) -> spur_status>,
    pub post_after: Option<unsafe extern "C" fn(executor: *const spur_executor, delay_ns: i64, run: spur_task, drop: spur_task, argument: *mut c_void, id: *mut u64) -> spur_status>,
    pub post_every: Option<unsafe extern "C" fn(executor: *const spur_executor, period_ns: i64, run: spur_task, drop: spur_task, argument: *mut c_void, id: *mut u64) -> spur_status>,
    pub watch_fd: Option<unsafe extern "C" fn(executor: *const spur_executor, fd: i32, events: u32, run: spur_watcher, drop: spur_task, argument: *mut c_void, id: *mut u64) -> spur_status>,
    pub cancel: Option<unsafe extern "C" fn(executor: *const spur_executor, id: u64) -> u32>,
}
impl spur_executor {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_executor = spur_executor {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        post: None,
        post_blocking: None,
        post_after: None,
        post_every: None,
        watch_fd: None,
        cancel: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_notify {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub changed: Option<unsafe extern "C" fn(notify: *const spur_notify, what: u32, subject: spur_str, reason: spur_str) -> spur_status>,
}
impl spur_notify {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_notify = spur_notify {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        changed: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_metric {
    pub size: u32,
    pub kind: u32,
    pub name: spur_str,
    pub help: spur_str,
    pub labels: spur_span,
    pub bounds: spur_span,
}
impl spur_metric {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_metric = spur_metric {
        size: 0,
        kind: 0,
        name: spur_str::EMPTY,
        help: spur_str::EMPTY,
        labels: spur_span::EMPTY,
        bounds: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_metrics {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub define: Option<unsafe extern "C" fn(metrics: *const spur_metrics, metric: *const spur_metric) -> u32>,
    pub series: Option<unsafe extern "C" fn(metrics: *const spur_metrics, metric: u32, values: spur_span) -> u32>,
    pub forget: Option<unsafe extern "C" fn(metrics: *const spur_metrics, series: u32)>,
    pub add: Option<unsafe extern "C" fn(metrics: *const spur_metrics, series: u32, amount: f64)>,
    pub set: Option<unsafe extern "C" fn(metrics: *const spur_metrics, series: u32, value: f64)>,
}
impl spur_metrics {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_metrics = spur_metrics {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        define: None,
        series: None,
        forget: None,
        add: None,
        set: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_store_change {
    pub what: u32,
    pub reserved: u32,
    pub key: spur_str,
    pub value: spur_bytes,
}
impl spur_store_change {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_store_change = spur_store_change {
        what: 0,
        reserved: 0,
        key: spur_str::EMPTY,
        value: spur_bytes::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_store {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub get: Option<unsafe extern "C" fn(store: *const spur_store, key: spur_str, sink: *const spur_sink, err: *mut spur_error) -> spur_status>,
    pub change: Option<unsafe extern "C" fn(store: *const spur_store, changes: spur_span, err: *mut spur_error) -> spur_status>,
    pub each: Option<unsafe extern "C" fn(store: *const spur_store, prefix: spur_str, context: *mut c_void, each: Option<unsafe extern "C" fn(a0: *mut c_void, a1: spur_str, a2: spur_bytes) -> spur_status>, err: *mut spur_error) -> spur_status>,
}
impl spur_store {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_store = spur_store {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        get: None,
        change: None,
        each: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_device_view {
    pub index: u32,
    pub r#type: u32,
    pub socket: u32,
    pub parent: u32,
    pub parent_gres: u32,
    pub reserved: u32,
    pub units_total: u64,
    pub units_used: u64,
    pub cores: spur_bits,
}
impl spur_device_view {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_device_view = spur_device_view {
        index: 0,
        r#type: 0,
        socket: 0,
        parent: 0,
        parent_gres: 0,
        reserved: 0,
        units_total: 0,
        units_used: 0,
        cores: spur_bits::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_device_link {
    pub from: u32,
    pub to: u32,
    pub to_gres: u32,
    pub weight: u32,
    pub kind: u32,
    pub reserved: u32,
}
impl spur_device_link {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_device_link = spur_device_link {
        from: 0,
        to: 0,
        to_gres: 0,
        weight: 0,
        kind: 0,
        reserved: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gres_view {
    pub name: u32,
    pub reserved: u32,
    pub total: u64,
    pub used: u64,
    pub devices: spur_span,
    pub links: spur_span,
}
impl spur_gres_view {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gres_view = spur_gres_view {
        name: 0,
        reserved: 0,
        total: 0,
        used: 0,
        devices: spur_span::EMPTY,
        links: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_node_view {
    pub name: spur_str,
    pub flags: u32,
    pub weight: u32,
    pub sockets: u32,
    pub cores_per_socket: u32,
    pub threads_per_core: u32,
    pub cpus: u32,
    pub cpus_used: u32,
    pub klass: u32,
    pub memory_mib: u64,
    pub memory_used_mib: u64,
    pub tmp_mib: u64,
    pub cores_used: spur_bits,
    pub cores_offered: spur_bits,
    pub features: spur_bits,
    pub gres: spur_span,
    pub groups: spur_span,
    pub owner_uid: u32,
    pub running_jobs: u32,
    pub most_jobs_per_core: u32,
    pub reserved: u32,
}
impl spur_node_view {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_node_view = spur_node_view {
        name: spur_str::EMPTY,
        flags: 0,
        weight: 0,
        sockets: 0,
        cores_per_socket: 0,
        threads_per_core: 0,
        cpus: 0,
        cpus_used: 0,
        klass: 0,
        memory_mib: 0,
        memory_used_mib: 0,
        tmp_mib: 0,
        cores_used: spur_bits::EMPTY,
        cores_offered: spur_bits::EMPTY,
        features: spur_bits::EMPTY,
        gres: spur_span::EMPTY,
        groups: spur_span::EMPTY,
        owner_uid: 0,
        running_jobs: 0,
        most_jobs_per_core: 0,
        reserved: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gres_share {
    pub name: u32,
    pub r#type: u32,
    pub count: u64,
    pub devices: spur_bits,
}
impl spur_gres_share {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gres_share = spur_gres_share {
        name: 0,
        r#type: 0,
        count: 0,
        devices: spur_bits::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_node_share {
    pub node: u32,
    pub cpus: u32,
    pub memory_mib: u64,
    pub cores: spur_bits,
    pub gres: spur_span,
    pub tasks: u32,
    pub flags: u32,
}
impl spur_node_share {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_node_share = spur_node_share {
        node: 0,
        cpus: 0,
        memory_mib: 0,
        cores: spur_bits::EMPTY,
        gres: spur_span::EMPTY,
        tasks: 0,
        flags: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_placement {
    pub size: u32,
    pub share_count: u32,
    pub share_capacity: u32,
    pub share_wanted: u32,
    pub shares: *mut spur_node_share,
    pub gres_count: u32,
    pub gres_capacity: u32,
    pub gres_wanted: u32,
    pub word_count: u32,
    pub word_capacity: u32,
    pub word_wanted: u32,
    pub gres: *mut spur_gres_share,
    pub words: *mut u64,
    pub score: i64,
}
impl spur_placement {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_placement = spur_placement {
        size: 0,
        share_count: 0,
        share_capacity: 0,
        share_wanted: 0,
        shares: std::ptr::null_mut(),
        gres_count: 0,
        gres_capacity: 0,
        gres_wanted: 0,
        word_count: 0,
        word_capacity: 0,
        word_wanted: 0,
        gres: std::ptr::null_mut(),
        words: std::ptr::null_mut(),
        score: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gres_request {
    pub name: u32,
    pub r#type: u32,
    pub scope: u32,
    pub reserved: u32,
    pub count: u64,
}
impl spur_gres_request {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gres_request = spur_gres_request {
        name: 0,
        r#type: 0,
        scope: 0,
        reserved: 0,
        count: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_license_request {
    pub license: u32,
    pub count: u32,
}
impl spur_license_request {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_license_request = spur_license_request {
        license: 0,
        count: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_node_quota {
    pub nodes: spur_bits,
    pub count: u32,
    pub reserved: u32,
}
impl spur_node_quota {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_node_quota = spur_node_quota {
        nodes: spur_bits::EMPTY,
        count: 0,
        reserved: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_job_view {
    pub id: u32,
    pub flags: u32,
    pub klass: u64,
    pub wishes: u64,
    pub priority: u64,
    pub uid: u32,
    pub gid: u32,
    pub association: u32,
    pub qos: u32,
    pub partitions: spur_span,
    pub reservation: u32,
    pub array_tasks: u32,
    pub array_task: u32,
    pub het_group: u32,
    pub restarts: u32,
    pub submitted: i64,
    pub eligible: i64,
    pub started: i64,
    pub ends: i64,
    pub deadline: i64,
    pub limit_s: u32,
    pub limit_min_s: u32,
    pub min_nodes: u32,
    pub max_nodes: u32,
    pub tasks: u32,
    pub cpus_per_task: u32,
    pub tasks_per_node: u32,
    pub tasks_per_socket: u32,
    pub tasks_per_core: u32,
    pub tasks_per_gpu: u32,
    pub min_cpus_per_node: u32,
    pub cpus_per_gpu: u32,
    pub min_sockets: u32,
    pub min_cores_per_socket: u32,
    pub min_threads_per_core: u32,
    pub spread_nodes: u32,
    pub spread_sockets: u32,
    pub plane_size: u32,
    pub mem_per_node_mib: u64,
    pub mem_per_cpu_mib: u64,
    pub mem_per_gpu_mib: u64,
    pub tmp_mib: u64,
    pub gres: spur_span,
    pub licenses: spur_span,
    pub eligible_nodes: spur_bits,
    pub required_nodes: spur_bits,
    pub alternatives: spur_span,
    pub quotas: spur_span,
    pub preferred_nodes: spur_bits,
    pub max_switches: u32,
    pub reserved: u32,
    pub switches_until: i64,
    pub preempt_tier: u32,
    pub preempt_mode: u32,
    pub preempt_exempt_until: i64,
    pub held: *const spur_placement,
    pub ran_s: u32,
    pub name: spur_str,
    pub extra: spur_str,
}
impl spur_job_view {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_job_view = spur_job_view {
        id: 0,
        flags: 0,
        klass: 0,
        wishes: 0,
        priority: 0,
        uid: 0,
        gid: 0,
        association: 0,
        qos: 0,
        partitions: spur_span::EMPTY,
        reservation: 0,
        array_tasks: 0,
        array_task: 0,
        het_group: 0,
        restarts: 0,
        submitted: 0,
        eligible: 0,
        started: 0,
        ends: 0,
        deadline: 0,
        limit_s: 0,
        limit_min_s: 0,
        min_nodes: 0,
        max_nodes: 0,
        tasks: 0,
        cpus_per_task: 0,
        tasks_per_node: 0,
        tasks_per_socket: 0,
        tasks_per_core: 0,
        tasks_per_gpu: 0,
        min_cpus_per_node: 0,
        cpus_per_gpu: 0,
        min_sockets: 0,
        min_cores_per_socket: 0,
        min_threads_per_core: 0,
        spread_nodes: 0,
        spread_sockets: 0,
        plane_size: 0,
        mem_per_node_mib: 0,
        mem_per_cpu_mib: 0,
        mem_per_gpu_mib: 0,
        tmp_mib: 0,
        gres: spur_span::EMPTY,
        licenses: spur_span::EMPTY,
        eligible_nodes: spur_bits::EMPTY,
        required_nodes: spur_bits::EMPTY,
        alternatives: spur_span::EMPTY,
        quotas: spur_span::EMPTY,
        preferred_nodes: spur_bits::EMPTY,
        max_switches: 0,
        reserved: 0,
        switches_until: 0,
        preempt_tier: 0,
        preempt_mode: 0,
        preempt_exempt_until: 0,
        held: std::ptr::null(),
        ran_s: 0,
        name: spur_str::EMPTY,
        extra: spur_str::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_partition_view {
    pub name: spur_str,
    pub nodes: spur_bits,
    pub state: u32,
    pub tier: u32,
    pub max_time_s: u32,
    pub max_nodes: u32,
    pub max_cpus_per_node: u32,
    pub min_nodes: u32,
    pub job_factor: u32,
    pub oversubscribe: u32,
    pub least_loaded: u32,
    pub exclusive_user: u32,
    pub billing: spur_span,
}
impl spur_partition_view {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_partition_view = spur_partition_view {
        name: spur_str::EMPTY,
        nodes: spur_bits::EMPTY,
        state: 0,
        tier: 0,
        max_time_s: 0,
        max_nodes: 0,
        max_cpus_per_node: 0,
        min_nodes: 0,
        job_factor: 0,
        oversubscribe: 0,
        least_loaded: 0,
        exclusive_user: 0,
        billing: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_tres_weight {
    pub tres: u32,
    pub reserved: u32,
    pub weight: f64,
}
impl spur_tres_weight {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_tres_weight = spur_tres_weight {
        tres: 0,
        reserved: 0,
        weight: 0.0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_reservation_view {
    pub name: spur_str,
    pub start: i64,
    pub end: i64,
    pub flags: u32,
    pub partition: u32,
    pub nodes: spur_bits,
    pub cores: spur_bits,
    pub licenses: spur_span,
}
impl spur_reservation_view {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_reservation_view = spur_reservation_view {
        name: spur_str::EMPTY,
        start: 0,
        end: 0,
        flags: 0,
        partition: 0,
        nodes: spur_bits::EMPTY,
        cores: spur_bits::EMPTY,
        licenses: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_license_view {
    pub name: spur_str,
    pub total: u32,
    pub used: u32,
}
impl spur_license_view {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_license_view = spur_license_view {
        name: spur_str::EMPTY,
        total: 0,
        used: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_qos_view {
    pub name: spur_str,
    pub priority: u32,
    pub preempt_mode: u32,
    pub preempts: spur_bits,
    pub usage_factor: f64,
    pub exempt_s: i64,
}
impl spur_qos_view {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_qos_view = spur_qos_view {
        name: spur_str::EMPTY,
        priority: 0,
        preempt_mode: 0,
        preempts: spur_bits::EMPTY,
        usage_factor: 0.0,
        exempt_s: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_association_view {
    pub account: spur_str,
    pub user: spur_str,
    pub parent: u32,
    pub shares: u32,
    pub uid: u32,
    pub priority: u32,
    pub usage: f64,
}
impl spur_association_view {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_association_view = spur_association_view {
        account: spur_str::EMPTY,
        user: spur_str::EMPTY,
        parent: 0,
        shares: 0,
        uid: 0,
        priority: 0,
        usage: 0.0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_group_view {
    pub name: spur_str,
    pub kind: u32,
    pub level: u32,
    pub parent: u32,
    pub reserved: u32,
    pub nodes: spur_bits,
    pub order: spur_span,
}
impl spur_group_view {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_group_view = spur_group_view {
        name: spur_str::EMPTY,
        kind: 0,
        level: 0,
        parent: 0,
        reserved: 0,
        nodes: spur_bits::EMPTY,
        order: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_view_changes {
    pub size: u32,
    pub complete: u32,
    pub since: u64,
    pub nodes: spur_span,
    pub new_pending: spur_span,
    pub new_running: spur_span,
    pub gone_pending: spur_span,
    pub gone_running: spur_span,
}
impl spur_view_changes {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_view_changes = spur_view_changes {
        size: 0,
        complete: 0,
        since: 0,
        nodes: spur_span::EMPTY,
        new_pending: spur_span::EMPTY,
        new_running: spur_span::EMPTY,
        gone_pending: spur_span::EMPTY,
        gone_running: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_cluster_view {
    pub size: u32,
    pub reserved: u32,
    pub number: u64,
    pub now: i64,
    pub nodes: spur_span,
    pub pending: spur_span,
    pub pending_order: spur_span,
    pub running: spur_span,
    pub running_order: spur_span,
    pub partitions: spur_span,
    pub reservations: spur_span,
    pub licenses: spur_span,
    pub qos: spur_span,
    pub associations: spur_span,
    pub groups: spur_span,
    pub features: spur_span,
    pub gres_names: spur_span,
    pub gres_types: spur_span,
    pub changes: *const spur_view_changes,
}
impl spur_cluster_view {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_cluster_view = spur_cluster_view {
        size: 0,
        reserved: 0,
        number: 0,
        now: 0,
        nodes: spur_span::EMPTY,
        pending: spur_span::EMPTY,
        pending_order: spur_span::EMPTY,
        running: spur_span::EMPTY,
        running_order: spur_span::EMPTY,
        partitions: spur_span::EMPTY,
        reservations: spur_span::EMPTY,
        licenses: spur_span::EMPTY,
        qos: spur_span::EMPTY,
        associations: spur_span::EMPTY,
        groups: spur_span::EMPTY,
        features: spur_span::EMPTY,
        gres_names: spur_span::EMPTY,
        gres_types: spur_span::EMPTY,
        changes: std::ptr::null(),
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_auth_request {
    pub size: u32,
    pub reserved: u32,
    pub binding: [u8; 32],
    pub method: spur_str,
    pub audience: spur_str,
    pub server: spur_str,
    pub on_behalf_of: spur_str,
    pub peer: spur_str,
    pub peer_name: spur_str,
    pub token: spur_str,
}
impl spur_auth_request {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_auth_request = spur_auth_request {
        size: 0,
        reserved: 0,
        binding: [0; 32],
        method: spur_str::EMPTY,
        audience: spur_str::EMPTY,
        server: spur_str::EMPTY,
        on_behalf_of: spur_str::EMPTY,
        peer: spur_str::EMPTY,
        peer_name: spur_str::EMPTY,
        token: spur_str::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_auth_reply {
    pub size: u32,
    pub reserved: u32,
    pub binding: [u8; 32],
    pub credential: spur_str,
}
impl spur_auth_reply {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_auth_reply = spur_auth_reply {
        size: 0,
        reserved: 0,
        binding: [0; 32],
        credential: spur_str::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_identity {
    pub size: u32,
    pub uid: u32,
    pub gid: u32,
    pub flags: u32,
    pub issued: i64,
    pub expires: i64,
    pub user: [c_char; 64],
    pub mechanism: [c_char; 32],
    pub origin: [c_char; 64],
}
impl spur_identity {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_identity = spur_identity {
        size: 0,
        uid: 0,
        gid: 0,
        flags: 0,
        issued: 0,
        expires: 0,
        user: [0; 64],
        mechanism: [0; 32],
        origin: [0; 64],
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_claims {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub claim: Option<unsafe extern "C" fn(claims: *const spur_claims, name: spur_str, value: spur_str) -> spur_status>,
}
impl spur_claims {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_claims = spur_claims {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        claim: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_token_request {
    pub size: u32,
    pub uid: u32,
    pub user: spur_str,
    pub expires: i64,
    pub scopes: spur_str,
    pub audience: spur_str,
}
impl spur_token_request {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_token_request = spur_token_request {
        size: 0,
        uid: 0,
        user: spur_str::EMPTY,
        expires: 0,
        scopes: spur_str::EMPTY,
        audience: spur_str::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_auth_ops {
    pub size: u32,
    pub features: u32,
    pub make: Option<unsafe extern "C" fn(this: *mut spur_plugin, request: *const spur_auth_request, credential: *const spur_sink, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub verify: Option<unsafe extern "C" fn(this: *mut spur_plugin, request: *const spur_auth_request, credential: spur_str, out: *mut spur_identity, claims: *const spur_claims, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub make_answer: Option<unsafe extern "C" fn(this: *mut spur_plugin, reply: *const spur_auth_reply, answer: *const spur_sink, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub verify_answer: Option<unsafe extern "C" fn(this: *mut spur_plugin, reply: *const spur_auth_reply, answer: spur_str, out: *mut spur_identity, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub issue: Option<unsafe extern "C" fn(this: *mut spur_plugin, wanted: *const spur_token_request, token: *const spur_sink, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub challenge: Option<unsafe extern "C" fn(this: *mut spur_plugin, request: *const spur_auth_request, credential: spur_str, challenge: *const spur_sink, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub respond: Option<unsafe extern "C" fn(this: *mut spur_plugin, request: *const spur_auth_request, credential: spur_str, challenge: spur_str, next: *const spur_sink, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
}
impl spur_auth_ops {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_auth_ops = spur_auth_ops {
        size: 0,
        features: 0,
        make: None,
        verify: None,
        make_answer: None,
        verify_answer: None,
        issue: None,
        challenge: None,
        respond: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_cgroup_scope {
    pub size: u32,
    pub job: u32,
    pub attempt: u32,
    pub step: u32,
    pub task: u32,
    pub reserved: u32,
}
impl spur_cgroup_scope {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_cgroup_scope = spur_cgroup_scope {
        size: 0,
        job: 0,
        attempt: 0,
        step: 0,
        task: 0,
        reserved: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_cgroup_limit {
    pub rule: u32,
    pub reserved: u32,
    pub value: u64,
}
impl spur_cgroup_limit {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_cgroup_limit = spur_cgroup_limit {
        rule: 0,
        reserved: 0,
        value: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_cgroup_device {
    pub kind: u32,
    pub major_number: u32,
    pub minor_number: u32,
    pub access: u32,
}
impl spur_cgroup_device {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_cgroup_device = spur_cgroup_device {
        kind: 0,
        major_number: 0,
        minor_number: 0,
        access: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_cgroup_io {
    pub major_number: u32,
    pub minor_number: u32,
    pub read_bytes: spur_cgroup_limit,
    pub write_bytes: spur_cgroup_limit,
    pub read_ops: spur_cgroup_limit,
    pub write_ops: spur_cgroup_limit,
}
impl spur_cgroup_io {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_cgroup_io = spur_cgroup_io {
        major_number: 0,
        minor_number: 0,
        read_bytes: spur_cgroup_limit::EMPTY,
        write_bytes: spur_cgroup_limit::EMPTY,
        read_ops: spur_cgroup_limit::EMPTY,
        write_ops: spur_cgroup_limit::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_cgroup_limits {
    pub size: u32,
    pub device_rule: u32,
    pub memory: spur_cgroup_limit,
    pub swap: spur_cgroup_limit,
    pub processes: spur_cgroup_limit,
    pub cpu_quota: spur_cgroup_limit,
    pub cpu_weight: spur_cgroup_limit,
    pub io_weight: spur_cgroup_limit,
    pub cpu_list: spur_str,
    pub io: spur_span,
    pub devices: spur_span,
}
impl spur_cgroup_limits {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_cgroup_limits = spur_cgroup_limits {
        size: 0,
        device_rule: 0,
        memory: spur_cgroup_limit::EMPTY,
        swap: spur_cgroup_limit::EMPTY,
        processes: spur_cgroup_limit::EMPTY,
        cpu_quota: spur_cgroup_limit::EMPTY,
        cpu_weight: spur_cgroup_limit::EMPTY,
        io_weight: spur_cgroup_limit::EMPTY,
        cpu_list: spur_str::EMPTY,
        io: spur_span::EMPTY,
        devices: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_cgroup_usage {
    pub size: u32,
    pub processes: u32,
    pub user_us: u64,
    pub system_us: u64,
    pub memory_peak_bytes: u64,
    pub oom_kills: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
}
impl spur_cgroup_usage {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_cgroup_usage = spur_cgroup_usage {
        size: 0,
        processes: 0,
        user_us: 0,
        system_us: 0,
        memory_peak_bytes: 0,
        oom_kills: 0,
        read_bytes: 0,
        write_bytes: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_cgroup_events {
    pub size: u32,
    pub populated: u32,
    pub oom_kills: u64,
}
impl spur_cgroup_events {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_cgroup_events = spur_cgroup_events {
        size: 0,
        populated: 0,
        oom_kills: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_cgroup_ops {
    pub size: u32,
    pub reserved: u32,
    pub capabilities: Option<unsafe extern "C" fn(this: *mut spur_plugin) -> u32>,
    pub make: Option<unsafe extern "C" fn(this: *mut spur_plugin, scope: *const spur_cgroup_scope, limits: *const spur_cgroup_limits, err: *mut spur_error) -> spur_status>,
    pub attach: Option<unsafe extern "C" fn(this: *mut spur_plugin, scope: *const spur_cgroup_scope, pid: i32, err: *mut spur_error) -> spur_status>,
    pub freeze: Option<unsafe extern "C" fn(this: *mut spur_plugin, scope: *const spur_cgroup_scope, frozen: u32, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub signal: Option<unsafe extern "C" fn(this: *mut spur_plugin, scope: *const spur_cgroup_scope, signal: i32, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub usage: Option<unsafe extern "C" fn(this: *mut spur_plugin, scope: *const spur_cgroup_scope, out: *mut spur_cgroup_usage, err: *mut spur_error) -> spur_status>,
    pub processes: Option<unsafe extern "C" fn(this: *mut spur_plugin, scope: *const spur_cgroup_scope, context: *mut c_void, each: Option<unsafe extern "C" fn(a0: *mut c_void, a1: i32)>, err: *mut spur_error) -> spur_status>,
    pub remove: Option<unsafe extern "C" fn(this: *mut spur_plugin, scope: *const spur_cgroup_scope, err: *mut spur_error) -> spur_status>,
    pub scopes: Option<unsafe extern "C" fn(this: *mut spur_plugin, context: *mut c_void, each: Option<unsafe extern "C" fn(a0: *mut c_void, a1: *const spur_cgroup_scope)>, err: *mut spur_error) -> spur_status>,
    pub open: Option<unsafe extern "C" fn(this: *mut spur_plugin, scope: *const spur_cgroup_scope, fd: *mut i32, err: *mut spur_error) -> spur_status>,
    pub watch: Option<unsafe extern "C" fn(this: *mut spur_plugin, scope: *const spur_cgroup_scope, fd: *mut i32, err: *mut spur_error) -> spur_status>,
    pub events: Option<unsafe extern "C" fn(this: *mut spur_plugin, scope: *const spur_cgroup_scope, fd: i32, out: *mut spur_cgroup_events, err: *mut spur_error) -> spur_status>,
}
impl spur_cgroup_ops {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_cgroup_ops = spur_cgroup_ops {
        size: 0,
        reserved: 0,
        capabilities: None,
        make: None,
        attach: None,
        freeze: None,
        signal: None,
        usage: None,
        processes: None,
        remove: None,
        scopes: None,
        open: None,
        watch: None,
        events: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_tres {
    pub name: spur_str,
    pub count: u64,
}
impl spur_tres {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_tres = spur_tres {
        name: spur_str::EMPTY,
        count: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_field {
    pub name: *const c_char,
    pub kind: u32,
    pub reserved: u32,
    pub integer: i64,
    pub real: f64,
    pub text: spur_str,
    pub tres: spur_span,
}
impl spur_field {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_field = spur_field {
        name: std::ptr::null(),
        kind: 0,
        reserved: 0,
        integer: 0,
        real: 0.0,
        text: spur_str::EMPTY,
        tres: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_row {
    pub table: u32,
    pub removed: u32,
    pub sequence: u64,
    pub fields: spur_span,
}
impl spur_row {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_row = spur_row {
        table: 0,
        removed: 0,
        sequence: 0,
        fields: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_batch {
    pub size: u32,
    pub reserved: u32,
    pub cluster: spur_str,
    pub stream: spur_str,
    pub first: u64,
    pub last: u64,
    pub rows: spur_span,
}
impl spur_batch {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_batch = spur_batch {
        size: 0,
        reserved: 0,
        cluster: spur_str::EMPTY,
        stream: spur_str::EMPTY,
        first: 0,
        last: 0,
        rows: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_store_report {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub poison: Option<unsafe extern "C" fn(report: *const spur_store_report, row: u32, why: spur_str)>,
}
impl spur_store_report {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_store_report = spur_store_report {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        poison: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_condition {
    pub name: *const c_char,
    pub test: u32,
    pub negate: u32,
    pub group: u32,
    pub reserved: u32,
    pub values: spur_span,
}
impl spur_condition {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_condition = spur_condition {
        name: std::ptr::null(),
        test: 0,
        negate: 0,
        group: 0,
        reserved: 0,
        values: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_sum {
    pub kind: u32,
    pub reserved: u32,
    pub field: *const c_char,
    pub tres: *const c_char,
    pub r#as: *const c_char,
}
impl spur_sum {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_sum = spur_sum {
        kind: 0,
        reserved: 0,
        field: std::ptr::null(),
        tres: std::ptr::null(),
        r#as: std::ptr::null(),
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_query {
    pub size: u32,
    pub table: u32,
    pub cluster: spur_str,
    pub conditions: spur_span,
    pub wanted: spur_span,
    pub groups: spur_span,
    pub sums: spur_span,
    pub order_by: *const c_char,
    pub after: spur_str,
    pub limit: u32,
    pub with_removed: u32,
}
impl spur_query {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_query = spur_query {
        size: 0,
        table: 0,
        cluster: spur_str::EMPTY,
        conditions: spur_span::EMPTY,
        wanted: spur_span::EMPTY,
        groups: spur_span::EMPTY,
        sums: spur_span::EMPTY,
        order_by: std::ptr::null(),
        after: spur_str::EMPTY,
        limit: 0,
        with_removed: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_row_sink {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub row: Option<unsafe extern "C" fn(sink: *const spur_row_sink, row: *const spur_row) -> spur_status>,
    pub more: Option<unsafe extern "C" fn(sink: *const spur_row_sink, cursor: spur_str) -> spur_status>,
}
impl spur_row_sink {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_row_sink = spur_row_sink {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        row: None,
        more: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_archive {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub row: Option<unsafe extern "C" fn(archive: *const spur_archive, cluster: spur_str, row: *const spur_row) -> spur_status>,
    pub durable: Option<unsafe extern "C" fn(archive: *const spur_archive) -> spur_status>,
}
impl spur_archive {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_archive = spur_archive {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        row: None,
        durable: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_schema {
    pub size: u32,
    pub state: u32,
    pub found: u32,
    pub known: u32,
}
impl spur_schema {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_schema = spur_schema {
        size: 0,
        state: 0,
        found: 0,
        known: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_progress {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub step: Option<unsafe extern "C" fn(progress: *const spur_progress, done: u32, total: u32, what: spur_str)>,
}
impl spur_progress {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_progress = spur_progress {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        step: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_accounting_ops {
    pub size: u32,
    pub features: u32,
    pub schema: Option<unsafe extern "C" fn(this: *mut spur_plugin, out: *mut spur_schema, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub migrate: Option<unsafe extern "C" fn(this: *mut spur_plugin, progress: *const spur_progress, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub store: Option<unsafe extern "C" fn(this: *mut spur_plugin, batch: *const spur_batch, report: *const spur_store_report, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub stored_up_to: Option<unsafe extern "C" fn(this: *mut spur_plugin, cluster: spur_str, stream: spur_str, from: u64, up_to: *mut u64, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub query: Option<unsafe extern "C" fn(this: *mut spur_plugin, query: *const spur_query, sink: *const spur_row_sink, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub purge: Option<unsafe extern "C" fn(this: *mut spur_plugin, cluster: spur_str, table: u32, before: i64, archive: *const spur_archive, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
}
impl spur_accounting_ops {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_accounting_ops = spur_accounting_ops {
        size: 0,
        features: 0,
        schema: None,
        migrate: None,
        store: None,
        stored_up_to: None,
        query: None,
        purge: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_device {
    pub size: u32,
    pub index: u32,
    pub numa_node: u32,
    pub health: u32,
    pub memory_mib: u64,
    pub key: spur_str,
    pub parent: spur_str,
    pub r#type: spur_str,
    pub model: spur_str,
    pub pci: spur_str,
    pub near_cpus: spur_str,
    pub device_files: spur_str,
    pub cdi: spur_str,
    pub profile: spur_str,
    pub clique: spur_str,
}
impl spur_gpu_device {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_device = spur_gpu_device {
        size: 0,
        index: 0,
        numa_node: 0,
        health: 0,
        memory_mib: 0,
        key: spur_str::EMPTY,
        parent: spur_str::EMPTY,
        r#type: spur_str::EMPTY,
        model: spur_str::EMPTY,
        pci: spur_str::EMPTY,
        near_cpus: spur_str::EMPTY,
        device_files: spur_str::EMPTY,
        cdi: spur_str::EMPTY,
        profile: spur_str::EMPTY,
        clique: spur_str::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_link {
    pub size: u32,
    pub kind: u32,
    pub weight: u32,
    pub to_what: u32,
    pub from: spur_str,
    pub to: spur_str,
}
impl spur_gpu_link {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_link = spur_gpu_link {
        size: 0,
        kind: 0,
        weight: 0,
        to_what: 0,
        from: spur_str::EMPTY,
        to: spur_str::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_sink {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub device: Option<unsafe extern "C" fn(sink: *const spur_gpu_sink, device: *const spur_gpu_device)>,
    pub link: Option<unsafe extern "C" fn(sink: *const spur_gpu_sink, link: *const spur_gpu_link)>,
}
impl spur_gpu_sink {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_sink = spur_gpu_sink {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        device: None,
        link: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_grant {
    pub key: spur_str,
    pub units: u64,
}
impl spur_gpu_grant {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_grant = spur_gpu_grant {
        key: spur_str::EMPTY,
        units: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_binding {
    pub size: u32,
    pub flags: u32,
    pub job: u32,
    pub attempt: u32,
    pub step: u32,
    pub task: u32,
    pub uid: u32,
    pub reserved: u32,
    pub grants: spur_span,
}
impl spur_gpu_binding {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_binding = spur_gpu_binding {
        size: 0,
        flags: 0,
        job: 0,
        attempt: 0,
        step: 0,
        task: 0,
        uid: 0,
        reserved: 0,
        grants: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_env_sink {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub variable: Option<unsafe extern "C" fn(sink: *const spur_gpu_env_sink, name: spur_str, value: spur_str)>,
    pub device_file: Option<unsafe extern "C" fn(sink: *const spur_gpu_env_sink, path: spur_str)>,
}
impl spur_gpu_env_sink {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_env_sink = spur_gpu_env_sink {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        variable: None,
        device_file: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_load {
    pub size: u32,
    pub health: u32,
    pub busy: f64,
    pub power_watts: f64,
    pub temperature_c: f64,
    pub energy_joules: f64,
    pub clock_mhz: f64,
    pub memory_clock_mhz: f64,
    pub memory_used_mib: u64,
    pub errors: u64,
}
impl spur_gpu_load {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_load = spur_gpu_load {
        size: 0,
        health: 0,
        busy: 0.0,
        power_watts: 0.0,
        temperature_c: 0.0,
        energy_joules: 0.0,
        clock_mhz: 0.0,
        memory_clock_mhz: 0.0,
        memory_used_mib: 0,
        errors: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_process {
    pub size: u32,
    pub pid: i32,
    pub busy: f64,
    pub energy_joules: f64,
    pub memory_mib: u64,
}
impl spur_gpu_process {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_process = spur_gpu_process {
        size: 0,
        pid: 0,
        busy: 0.0,
        energy_joules: 0.0,
        memory_mib: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_process_sink {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub process: Option<unsafe extern "C" fn(sink: *const spur_gpu_process_sink, process: *const spur_gpu_process)>,
}
impl spur_gpu_process_sink {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_process_sink = spur_gpu_process_sink {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        process: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_profile {
    pub size: u32,
    pub most: u32,
    pub memory_mib: u64,
    pub name: spur_str,
    pub r#type: spur_str,
}
impl spur_gpu_profile {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_profile = spur_gpu_profile {
        size: 0,
        most: 0,
        memory_mib: 0,
        name: spur_str::EMPTY,
        r#type: spur_str::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_profile_sink {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub profile: Option<unsafe extern "C" fn(sink: *const spur_gpu_profile_sink, profile: *const spur_gpu_profile)>,
}
impl spur_gpu_profile_sink {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_profile_sink = spur_gpu_profile_sink {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        profile: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_gpu_ops {
    pub size: u32,
    pub reserved: u32,
    pub scan: Option<unsafe extern "C" fn(this: *mut spur_plugin, sink: *const spur_gpu_sink, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub bind: Option<unsafe extern "C" fn(this: *mut spur_plugin, binding: *const spur_gpu_binding, sink: *const spur_gpu_env_sink, err: *mut spur_error) -> spur_status>,
    pub release: Option<unsafe extern "C" fn(this: *mut spur_plugin, binding: *const spur_gpu_binding, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub load: Option<unsafe extern "C" fn(this: *mut spur_plugin, key: spur_str, out: *mut spur_gpu_load, err: *mut spur_error) -> spur_status>,
    pub processes: Option<unsafe extern "C" fn(this: *mut spur_plugin, key: spur_str, sink: *const spur_gpu_process_sink, err: *mut spur_error) -> spur_status>,
    pub watch: Option<unsafe extern "C" fn(this: *mut spur_plugin, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub reset: Option<unsafe extern "C" fn(this: *mut spur_plugin, key: spur_str, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub profiles: Option<unsafe extern "C" fn(this: *mut spur_plugin, key: spur_str, sink: *const spur_gpu_profile_sink, err: *mut spur_error) -> spur_status>,
    pub partition: Option<unsafe extern "C" fn(this: *mut spur_plugin, key: spur_str, profiles: spur_span, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
}
impl spur_gpu_ops {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_gpu_ops = spur_gpu_ops {
        size: 0,
        reserved: 0,
        scan: None,
        bind: None,
        release: None,
        load: None,
        processes: None,
        watch: None,
        reset: None,
        profiles: None,
        partition: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_submit_partition {
    pub name: spur_str,
    pub flags: u32,
    pub reserved: u32,
}
impl spur_submit_partition {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_submit_partition = spur_submit_partition {
        name: spur_str::EMPTY,
        flags: 0,
        reserved: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_submit {
    pub size: u32,
    pub uid: u32,
    pub gid: u32,
    pub reserved: u32,
    pub user: spur_str,
    pub partitions: spur_span,
    pub notes: *const spur_sink,
    pub stop: *const spur_stop,
}
impl spur_submit {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_submit = spur_submit {
        size: 0,
        uid: 0,
        gid: 0,
        reserved: 0,
        user: spur_str::EMPTY,
        partitions: spur_span::EMPTY,
        notes: std::ptr::null(),
        stop: std::ptr::null(),
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_job_submit_ops {
    pub size: u32,
    pub reserved: u32,
    pub submit: Option<unsafe extern "C" fn(this: *mut spur_plugin, submit: *const spur_submit, job: *const spur_record, err: *mut spur_error) -> spur_status>,
}
impl spur_job_submit_ops {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_job_submit_ops = spur_job_submit_ops {
        size: 0,
        reserved: 0,
        submit: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_net_member {
    pub size: u32,
    pub flags: u32,
    pub number: u64,
    pub name: spur_str,
    pub token: spur_str,
    pub endpoints: spur_span,
    pub routes: spur_span,
}
impl spur_net_member {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_net_member = spur_net_member {
        size: 0,
        flags: 0,
        number: 0,
        name: spur_str::EMPTY,
        token: spur_str::EMPTY,
        endpoints: spur_span::EMPTY,
        routes: spur_span::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_net_listener {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub token: Option<unsafe extern "C" fn(listener: *const spur_net_listener, token: spur_str)>,
    pub peer: Option<unsafe extern "C" fn(listener: *const spur_net_listener, name: spur_str, state: u32)>,
}
impl spur_net_listener {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_net_listener = spur_net_listener {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        token: None,
        peer: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_net_status {
    pub size: u32,
    pub state: u32,
    pub generation: u64,
    pub peers: u32,
    pub reachable: u32,
    pub last_seen: i64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
}
impl spur_net_status {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_net_status = spur_net_status {
        size: 0,
        state: 0,
        generation: 0,
        peers: 0,
        reachable: 0,
        last_seen: 0,
        sent_bytes: 0,
        received_bytes: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_net_ops {
    pub size: u32,
    pub reserved: u32,
    pub invite: Option<unsafe extern "C" fn(this: *mut spur_plugin, member: *const spur_net_member, expires: i64, invitation: *const spur_sink, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub join: Option<unsafe extern "C" fn(this: *mut spur_plugin, me: *const spur_net_member, invitation: spur_str, listener: *const spur_net_listener, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub adopt: Option<unsafe extern "C" fn(this: *mut spur_plugin, me: *const spur_net_member, listener: *const spur_net_listener, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub leave: Option<unsafe extern "C" fn(this: *mut spur_plugin, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub change: Option<unsafe extern "C" fn(this: *mut spur_plugin, generation: u64, complete: u32, changed: spur_span, gone: spur_span, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub addresses: Option<unsafe extern "C" fn(this: *mut spur_plugin, name: spur_str, addresses: *const spur_sink, err: *mut spur_error) -> spur_status>,
    pub status: Option<unsafe extern "C" fn(this: *mut spur_plugin, name: spur_str, out: *mut spur_net_status, err: *mut spur_error) -> spur_status>,
}
impl spur_net_ops {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_net_ops = spur_net_ops {
        size: 0,
        reserved: 0,
        invite: None,
        join: None,
        adopt: None,
        leave: None,
        change: None,
        addresses: None,
        status: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_value {
    pub size: u32,
    pub kind: u32,
    pub number: i64,
    pub real: f64,
    pub text: spur_str,
}
impl spur_value {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_value = spur_value {
        size: 0,
        kind: 0,
        number: 0,
        real: 0.0,
        text: spur_str::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_record_field {
    pub size: u32,
    pub kind: u32,
    pub flags: u32,
    pub reserved: u32,
    pub name: spur_str,
}
impl spur_record_field {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_record_field = spur_record_field {
        size: 0,
        kind: 0,
        flags: 0,
        reserved: 0,
        name: spur_str::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_record {
    pub size: u32,
    pub kind: u32,
    pub context: *mut c_void,
    pub count: Option<unsafe extern "C" fn(record: *const spur_record) -> u32>,
    pub find: Option<unsafe extern "C" fn(record: *const spur_record, name: spur_str) -> u32>,
    pub describe: Option<unsafe extern "C" fn(record: *const spur_record, field: u32, out: *mut spur_record_field) -> spur_status>,
    pub get: Option<unsafe extern "C" fn(record: *const spur_record, field: u32, out: *mut spur_value) -> spur_status>,
    pub set: Option<unsafe extern "C" fn(record: *const spur_record, field: u32, value: *const spur_value, err: *mut spur_error) -> spur_status>,
}
impl spur_record {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_record = spur_record {
        size: 0,
        kind: 0,
        context: std::ptr::null_mut(),
        count: None,
        find: None,
        describe: None,
        get: None,
        set: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_factor {
    pub size: u32,
    pub reserved: u32,
    pub name: spur_str,
    pub help: spur_str,
    pub weight: f64,
}
impl spur_factor {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_factor = spur_factor {
        size: 0,
        reserved: 0,
        name: spur_str::EMPTY,
        help: spur_str::EMPTY,
        weight: 0.0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_factor_sink {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub factor: Option<unsafe extern "C" fn(sink: *const spur_factor_sink, factor: *const spur_factor) -> spur_status>,
}
impl spur_factor_sink {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_factor_sink = spur_factor_sink {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        factor: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_priority_query {
    pub job: u32,
    pub partition: u32,
    pub nice: i64,
    pub site_factor: i64,
}
impl spur_priority_query {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_priority_query = spur_priority_query {
        job: 0,
        partition: 0,
        nice: 0,
        site_factor: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_priority {
    pub total: u64,
    pub exact: f64,
}
impl spur_priority {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_priority = spur_priority {
        total: 0,
        exact: 0.0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_scores {
    pub size: u32,
    pub factor_count: u32,
    pub totals: *mut spur_priority,
    pub total_stride: u32,
    pub reserved: u32,
    pub raw: *mut f64,
    pub weighted: *mut f64,
}
impl spur_scores {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_scores = spur_scores {
        size: 0,
        factor_count: 0,
        totals: std::ptr::null_mut(),
        total_stride: 0,
        reserved: 0,
        raw: std::ptr::null_mut(),
        weighted: std::ptr::null_mut(),
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_share {
    pub normalised_shares: f64,
    pub normalised_usage: f64,
    pub effective_usage: f64,
    pub level: f64,
    pub factor: f64,
}
impl spur_share {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_share = spur_share {
        normalised_shares: 0.0,
        normalised_usage: 0.0,
        effective_usage: 0.0,
        level: 0.0,
        factor: 0.0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_priority_ops {
    pub size: u32,
    pub reserved: u32,
    pub score: Option<unsafe extern "C" fn(this: *mut spur_plugin, view: *const spur_cluster_view, queries: spur_span, out: *const spur_scores, err: *mut spur_error) -> spur_status>,
    pub decay: Option<unsafe extern "C" fn(this: *mut spur_plugin, from: i64, to: i64) -> f64>,
    pub factors: Option<unsafe extern "C" fn(this: *mut spur_plugin, sink: *const spur_factor_sink, err: *mut spur_error) -> spur_status>,
    pub shares: Option<unsafe extern "C" fn(this: *mut spur_plugin, view: *const spur_cluster_view, out: *mut spur_share, out_stride: u32, err: *mut spur_error) -> spur_status>,
}
impl spur_priority_ops {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_priority_ops = spur_priority_ops {
        size: 0,
        reserved: 0,
        score: None,
        decay: None,
        factors: None,
        shares: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_plan_sink {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub stopped: Option<unsafe extern "C" fn(sink: *const spur_plan_sink) -> u32>,
    pub may_start: Option<unsafe extern "C" fn(sink: *const spur_plan_sink, job: u32, partition: u32) -> spur_status>,
    pub start: Option<unsafe extern "C" fn(sink: *const spur_plan_sink, job: u32, partition: u32, placement: *const spur_placement, limit_s: u32) -> spur_status>,
    pub expect: Option<unsafe extern "C" fn(sink: *const spur_plan_sink, job: u32, start: i64, partition: u32, nodes: spur_bits)>,
    pub waits: Option<unsafe extern "C" fn(sink: *const spur_plan_sink, job: u32, reason: u32, text: spur_str)>,
    pub preempt: Option<unsafe extern "C" fn(sink: *const spur_plan_sink, job: u32, partition: u32, victims: *const u32, victim_count: u32, placement: *const spur_placement) -> spur_status>,
}
impl spur_plan_sink {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_plan_sink = spur_plan_sink {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        stopped: None,
        may_start: None,
        start: None,
        expect: None,
        waits: None,
        preempt: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_selector {
    pub size: u32,
    pub reserved: u32,
    pub ops: *const spur_select_ops,
    pub this: *mut spur_plugin,
}
impl spur_selector {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_selector = spur_selector {
        size: 0,
        reserved: 0,
        ops: std::ptr::null(),
        this: std::ptr::null_mut(),
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_sched_ops {
    pub size: u32,
    pub reserved: u32,
    pub understands: u64,
    pub plan: Option<unsafe extern "C" fn(this: *mut spur_plugin, view: *const spur_cluster_view, select: *const spur_selector, sink: *const spur_plan_sink, err: *mut spur_error) -> spur_status>,
}
impl spur_sched_ops {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_sched_ops = spur_sched_ops {
        size: 0,
        reserved: 0,
        understands: 0,
        plan: None,
    };
}

#[repr(C)]
pub struct spur_select_cycle {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_pick {
    pub size: u32,
    pub job: u32,
    pub partition: u32,
    pub slot: u32,
    pub candidates: spur_bits,
    pub flags: u32,
    pub reserved: u32,
}
impl spur_pick {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_pick = spur_pick {
        size: 0,
        job: 0,
        partition: 0,
        slot: 0,
        candidates: spur_bits::EMPTY,
        flags: 0,
        reserved: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_select_ops {
    pub size: u32,
    pub reserved: u32,
    pub understands: u64,
    pub begin: Option<unsafe extern "C" fn(this: *mut spur_plugin, view: *const spur_cluster_view, out: *mut *mut spur_select_cycle, err: *mut spur_error) -> spur_status>,
    pub end: Option<unsafe extern "C" fn(this: *mut spur_plugin, cycle: *mut spur_select_cycle)>,
    pub slots: Option<unsafe extern "C" fn(cycle: *mut spur_select_cycle) -> u32>,
    pub copy: Option<unsafe extern "C" fn(cycle: *mut spur_select_cycle, from: u32, to: u32) -> spur_status>,
    pub take: Option<unsafe extern "C" fn(cycle: *mut spur_select_cycle, slot: u32, placement: *const spur_placement, job_flags: u32)>,
    pub give: Option<unsafe extern "C" fn(cycle: *mut spur_select_cycle, slot: u32, placement: *const spur_placement, job_flags: u32)>,
    pub pick: Option<unsafe extern "C" fn(cycle: *mut spur_select_cycle, pick: *const spur_pick, out: *mut spur_placement) -> spur_status>,
    pub screen: Option<unsafe extern "C" fn(cycle: *mut spur_select_cycle, slot: u32, jobs: *const u32, count: u32, verdicts: *mut spur_status)>,
    pub idle_nodes: Option<unsafe extern "C" fn(cycle: *mut spur_select_cycle, slot: u32, words: *mut u64)>,
    pub explain: Option<unsafe extern "C" fn(cycle: *mut spur_select_cycle, pick: *const spur_pick, text: *const spur_sink) -> spur_status>,
}
impl spur_select_ops {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_select_ops = spur_select_ops {
        size: 0,
        reserved: 0,
        understands: 0,
        begin: None,
        end: None,
        slots: None,
        copy: None,
        take: None,
        give: None,
        pick: None,
        screen: None,
        idle_nodes: None,
        explain: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_state_entry {
    pub body: spur_bytes,
    pub index: u64,
    pub term: u64,
}
impl spur_state_entry {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_state_entry = spur_state_entry {
        body: spur_bytes::EMPTY,
        index: 0,
        term: 0,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_state_status {
    pub size: u32,
    pub role: u32,
    pub term: u64,
    pub last_index: u64,
    pub committed_index: u64,
    pub snapshot_index: u64,
    pub log_bytes: u64,
    pub fsyncs: u64,
    pub entries: u64,
    pub leader: [c_char; 256],
    pub this: [c_char; 256],
}
impl spur_state_status {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_state_status = spur_state_status {
        size: 0,
        role: 0,
        term: 0,
        last_index: 0,
        committed_index: 0,
        snapshot_index: 0,
        log_bytes: 0,
        fsyncs: 0,
        entries: 0,
        leader: [0; 256],
        this: [0; 256],
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_state_member {
    pub size: u32,
    pub role: u32,
    pub id: u64,
    pub voter: u32,
    pub reserved: u32,
    pub address: spur_str,
}
impl spur_state_member {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_state_member = spur_state_member {
        size: 0,
        role: 0,
        id: 0,
        voter: 0,
        reserved: 0,
        address: spur_str::EMPTY,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_state_listener {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub committed: Option<unsafe extern "C" fn(listener: *const spur_state_listener, entries: *const spur_state_entry, count: u32)>,
    pub outcome: Option<unsafe extern "C" fn(listener: *const spur_state_listener, ticket: u64, status: spur_status, err: *const spur_error)>,
    pub restore: Option<unsafe extern "C" fn(listener: *const spur_state_listener, index: u64, snapshot: *const spur_source, err: *mut spur_error) -> spur_status>,
    pub role: Option<unsafe extern "C" fn(listener: *const spur_state_listener, role: u32, term: u64, leader: spur_str)>,
    pub snapshot_wanted: Option<unsafe extern "C" fn(listener: *const spur_state_listener)>,
    pub failed: Option<unsafe extern "C" fn(listener: *const spur_state_listener, err: *const spur_error)>,
}
impl spur_state_listener {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_state_listener = spur_state_listener {
        size: 0,
        reserved: 0,
        context: std::ptr::null_mut(),
        committed: None,
        outcome: None,
        restore: None,
        role: None,
        snapshot_wanted: None,
        failed: None,
    };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct spur_state_ops {
    pub size: u32,
    pub features: u32,
    pub open: Option<unsafe extern "C" fn(this: *mut spur_plugin, listener: *const spur_state_listener, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub propose: Option<unsafe extern "C" fn(this: *mut spur_plugin, entries: *const spur_state_entry, count: u32, ticket: u64, err: *mut spur_error) -> spur_status>,
    pub status: Option<unsafe extern "C" fn(this: *mut spur_plugin, out: *mut spur_state_status, err: *mut spur_error) -> spur_status>,
    pub snapshot: Option<unsafe extern "C" fn(this: *mut spur_plugin, index: u64, snapshot: *const spur_source, stop: *const spur_stop, err: *mut spur_error) -> spur_status>,
    pub barrier: Option<unsafe extern "C" fn(this: *mut spur_plugin, ticket: u64, err: *mut spur_error) -> spur_status>,
    pub members: Option<unsafe extern "C" fn(this: *mut spur_plugin, context: *mut c_void, each: Option<unsafe extern "C" fn(a0: *mut c_void, a1: *const spur_state_member)>, err: *mut spur_error) -> spur_status>,
    pub add_member: Option<unsafe extern "C" fn(this: *mut spur_plugin, address: spur_str, ticket: u64, err: *mut spur_error) -> spur_status>,
    pub remove_member: Option<unsafe extern "C" fn(this: *mut spur_plugin, address: spur_str, ticket: u64, err: *mut spur_error) -> spur_status>,
    pub transfer: Option<unsafe extern "C" fn(this: *mut spur_plugin, address: spur_str, ticket: u64, err: *mut spur_error) -> spur_status>,
}
impl spur_state_ops {
    /// All zero: for `..EMPTY`, so that a struct that has grown is still filled.
    pub const EMPTY: spur_state_ops = spur_state_ops {
        size: 0,
        features: 0,
        open: None,
        propose: None,
        status: None,
        snapshot: None,
        barrier: None,
        members: None,
        add_member: None,
        remove_member: None,
        transfer: None,
    };
}

pub const SPUR_OK: spur_status = 0;
pub const SPUR_E_INVALID: spur_status = -1;
pub const SPUR_E_UNAVAILABLE: spur_status = -2;
pub const SPUR_E_IO: spur_status = -3;
pub const SPUR_E_BUSY: spur_status = -4;
pub const SPUR_E_DENIED: spur_status = -5;
pub const SPUR_E_CORRUPT: spur_status = -6;
pub const SPUR_E_UNSUPPORTED: spur_status = -7;
pub const SPUR_E_STOPPED: spur_status = -8;
pub const SPUR_E_NOT_FOUND: spur_status = -9;
pub const SPUR_E_INTERNAL: spur_status = -100;
pub const SPUR_NONE: u32 = 4294967295;
pub const SPUR_UNLIMITED: u32 = 4294967295;
pub const SPUR_OPTION_STRING: u32 = 1;
pub const SPUR_OPTION_INT: u32 = 2;
pub const SPUR_OPTION_FLOAT: u32 = 3;
pub const SPUR_OPTION_BOOL: u32 = 4;
pub const SPUR_OPTION_DURATION: u32 = 5;
pub const SPUR_OPTION_SIZE: u32 = 6;
pub const SPUR_OPTION_PATH: u32 = 7;
pub const SPUR_OPTION_LIST: u32 = 8;
pub const SPUR_OPTION_CHOICE: u32 = 9;
pub const SPUR_OPTION_SECRET: u32 = 10;
pub const SPUR_OPTION_REQUIRED: u32 = 1;
pub const SPUR_ABI_EPOCH: u32 = 1;
pub const SPUR_HEADERS_VERSION: &[u8] = b"0.9\0";
pub const SPUR_LOG_SERVICE: &[u8] = b"spur.log/1\0";
pub const SPUR_LOG_ERROR: u32 = 1;
pub const SPUR_LOG_WARNING: u32 = 2;
pub const SPUR_LOG_INFO: u32 = 3;
pub const SPUR_LOG_DEBUG: u32 = 4;
pub const SPUR_CLOCK_SERVICE: &[u8] = b"spur.clock/1\0";
pub const SPUR_CONFIG_SERVICE: &[u8] = b"spur.config/1\0";
pub const SPUR_EXECUTOR_SERVICE: &[u8] = b"spur.executor/1\0";
pub const SPUR_EXECUTOR_MOST_WAITING: u32 = 1000;
pub const SPUR_EXECUTOR_MOST_BLOCKING: u32 = 4;
pub const SPUR_WATCH_READ: u32 = 1;
pub const SPUR_WATCH_WRITE: u32 = 2;
pub const SPUR_WATCH_BROKEN: u32 = 4;
pub const SPUR_NOTIFY_SERVICE: &[u8] = b"spur.notify/1\0";
pub const SPUR_CHANGED_PLAN: u32 = 1;
pub const SPUR_CHANGED_PRIORITIES: u32 = 2;
pub const SPUR_CHANGED_DEVICES: u32 = 3;
pub const SPUR_CHANGED_KEYS: u32 = 4;
pub const SPUR_CHANGED_PEERS: u32 = 5;
pub const SPUR_CHANGED_STORAGE: u32 = 6;
pub const SPUR_METRICS_SERVICE: &[u8] = b"spur.metrics/1\0";
pub const SPUR_METRIC_COUNTER: u32 = 1;
pub const SPUR_METRIC_GAUGE: u32 = 2;
pub const SPUR_METRIC_HISTOGRAM: u32 = 3;
pub const SPUR_METRICS_MOST: u32 = 256;
pub const SPUR_METRICS_MOST_LABELS: u32 = 8;
pub const SPUR_METRICS_MOST_SERIES: u32 = 4096;
pub const SPUR_STORE_SERVICE: &[u8] = b"spur.store/1\0";
pub const SPUR_STORE_MOST_KEY: u32 = 128;
pub const SPUR_STORE_MOST_VALUE: u32 = 65536;
pub const SPUR_STORE_MOST_KEYS: u32 = 1024;
pub const SPUR_STORE_MOST_BYTES: u32 = 1048576;
pub const SPUR_STORE_PUT: u32 = 1;
pub const SPUR_STORE_REMOVE: u32 = 2;
pub const SPUR_TIME_UNLIMITED: i64 = 9223372036854775807;
pub const SPUR_NODE_USABLE: u32 = 1;
pub const SPUR_NODE_DRAINING: u32 = 2;
pub const SPUR_NODE_DOWN: u32 = 4;
pub const SPUR_NODE_COMPLETING: u32 = 8;
pub const SPUR_NODE_MAINT: u32 = 16;
pub const SPUR_NODE_POWERED_DOWN: u32 = 32;
pub const SPUR_NODE_EXCLUSIVE: u32 = 64;
pub const SPUR_LINK_HOST: u32 = 0;
pub const SPUR_LINK_NUMA: u32 = 1;
pub const SPUR_LINK_SWITCH: u32 = 2;
pub const SPUR_LINK_NVLINK: u32 = 3;
pub const SPUR_LINK_XGMI: u32 = 4;
pub const SPUR_LINK_SAME_CARD: u32 = 5;
pub const SPUR_SHARE_WHOLE_NODE: u32 = 1;
pub const SPUR_GRES_PER_NODE: u32 = 1;
pub const SPUR_GRES_PER_JOB: u32 = 2;
pub const SPUR_GRES_PER_TASK: u32 = 3;
pub const SPUR_GRES_PER_SOCKET: u32 = 4;
pub const SPUR_JOB_EXCLUSIVE: u32 = 1;
pub const SPUR_JOB_EXCLUSIVE_USER: u32 = 2;
pub const SPUR_JOB_OVERSUBSCRIBE: u32 = 4;
pub const SPUR_JOB_OVERCOMMIT: u32 = 8;
pub const SPUR_JOB_CONTIGUOUS: u32 = 16;
pub const SPUR_JOB_SPREAD: u32 = 32;
pub const SPUR_JOB_USE_MIN_NODES: u32 = 64;
pub const SPUR_JOB_REQUEUE: u32 = 128;
pub const SPUR_JOB_ONE_THREAD_PER_CORE: u32 = 256;
pub const SPUR_JOB_COMPUTE_BOUND: u32 = 512;
pub const SPUR_JOB_MEMORY_BOUND: u32 = 1024;
pub const SPUR_JOB_MEM_ALL: u32 = 2048;
pub const SPUR_JOB_SUSPENDED: u32 = 4096;
pub const SPUR_JOB_COMPLETING: u32 = 8192;
pub const SPUR_JOB_IGNORE_RESERVATIONS: u32 = 16384;
pub const SPUR_JOB_NO_RESERVE: u32 = 32768;
pub const SPUR_WISH_CONTIGUOUS: u64 = 1;
pub const SPUR_WISH_SWITCHES: u64 = 2;
pub const SPUR_WISH_ALTERNATIVES: u64 = 4;
pub const SPUR_WISH_QUOTAS: u64 = 8;
pub const SPUR_WISH_GRES: u64 = 16;
pub const SPUR_WISH_GRES_PER_SOCKET: u64 = 32;
pub const SPUR_WISH_TASKS_PER_SOCKET: u64 = 64;
pub const SPUR_WISH_TASKS_PER_CORE: u64 = 128;
pub const SPUR_WISH_TASKS_PER_GPU: u64 = 256;
pub const SPUR_WISH_CPUS_PER_GPU: u64 = 512;
pub const SPUR_WISH_MEM_PER_GPU: u64 = 1024;
pub const SPUR_WISH_HET_JOB: u64 = 4294967296;
pub const SPUR_WISH_TIME_MIN: u64 = 8589934592;
pub const SPUR_WISH_DEADLINE: u64 = 17179869184;
pub const SPUR_WISH_LICENSES: u64 = 34359738368;
pub const SPUR_WISH_RESERVATION: u64 = 68719476736;
pub const SPUR_SPREAD_DEFAULT: u32 = 0;
pub const SPUR_SPREAD_BLOCK: u32 = 1;
pub const SPUR_SPREAD_CYCLIC: u32 = 2;
pub const SPUR_SPREAD_PLANE: u32 = 3;
pub const SPUR_PREEMPT_OFF: u32 = 0;
pub const SPUR_PREEMPT_CANCEL: u32 = 1;
pub const SPUR_PREEMPT_REQUEUE: u32 = 2;
pub const SPUR_PREEMPT_SUSPEND: u32 = 3;
pub const SPUR_PARTITION_UP: u32 = 1;
pub const SPUR_PARTITION_DOWN: u32 = 2;
pub const SPUR_PARTITION_DRAIN: u32 = 3;
pub const SPUR_PARTITION_INACTIVE: u32 = 4;
pub const SPUR_TRES_CPU: u32 = 1;
pub const SPUR_TRES_MEM: u32 = 2;
pub const SPUR_TRES_NODE: u32 = 3;
pub const SPUR_TRES_BILLING: u32 = 4;
pub const SPUR_TRES_ENERGY: u32 = 5;
pub const SPUR_TRES_GRES: u32 = 1000;
pub const SPUR_RESERVATION_MAINT: u32 = 1;
pub const SPUR_RESERVATION_OVERLAP: u32 = 2;
pub const SPUR_RESERVATION_IGNORE_JOBS: u32 = 4;
pub const SPUR_RESERVATION_FLEX: u32 = 8;
pub const SPUR_RESERVATION_MAGNETIC: u32 = 16;
pub const SPUR_SHARES_PARENT: u32 = 2147483647;
pub const SPUR_GROUP_SWITCH: u32 = 1;
pub const SPUR_GROUP_BLOCK: u32 = 2;
pub const SPUR_GROUP_RING: u32 = 3;
pub const SPUR_GROUP_FAULT: u32 = 4;
pub const SPUR_AUTH_IFACE: &[u8] = b"spur.auth/1\0";
pub const SPUR_AUTH_REFUSED: spur_status = 1;
pub const SPUR_AUTH_CHALLENGE: spur_status = 2;
pub const SPUR_AUTH_BINDS_REQUEST: u32 = 1;
pub const SPUR_AUTH_DETECTS_REPLAY: u32 = 2;
pub const SPUR_AUTH_ANSWERS: u32 = 4;
pub const SPUR_AUTH_LOCAL_ONLY: u32 = 8;
pub const SPUR_AUTH_ISSUES: u32 = 16;
pub const SPUR_AUTH_CHALLENGES: u32 = 32;
pub const SPUR_AUTH_MOST_LEGS: u32 = 4;
pub const SPUR_IDENTITY_HAS_GROUPS: u32 = 1;
pub const SPUR_IDENTITY_IS_SCOPED: u32 = 2;
pub const SPUR_CGROUP_IFACE: &[u8] = b"spur.cgroup/1\0";
pub const SPUR_CGROUP_CONTAINS: u32 = 1;
pub const SPUR_CGROUP_FREEZES: u32 = 2;
pub const SPUR_CGROUP_CPU: u32 = 4;
pub const SPUR_CGROUP_CPUSET: u32 = 8;
pub const SPUR_CGROUP_MEMORY: u32 = 16;
pub const SPUR_CGROUP_DEVICES: u32 = 32;
pub const SPUR_CGROUP_USAGE: u32 = 64;
pub const SPUR_CGROUP_PROCESSES: u32 = 128;
pub const SPUR_CGROUP_SWAP: u32 = 256;
pub const SPUR_CGROUP_IO: u32 = 512;
pub const SPUR_LIMIT_LEAVE: u32 = 0;
pub const SPUR_LIMIT_NONE: u32 = 1;
pub const SPUR_LIMIT_AT: u32 = 2;
pub const SPUR_CGROUP_CHARACTER: u32 = 1;
pub const SPUR_CGROUP_BLOCK: u32 = 2;
pub const SPUR_CGROUP_READ: u32 = 1;
pub const SPUR_CGROUP_WRITE: u32 = 2;
pub const SPUR_CGROUP_MKNOD: u32 = 4;
pub const SPUR_CGROUP_DEVICES_LEAVE: u32 = 0;
pub const SPUR_CGROUP_DEVICES_ANY: u32 = 1;
pub const SPUR_CGROUP_DEVICES_DENY: u32 = 2;
pub const SPUR_CGROUP_DEVICES_ALLOW: u32 = 3;
pub const SPUR_ACCOUNTING_IFACE: &[u8] = b"spur.accounting/1\0";
pub const SPUR_ROW_JOB: u32 = 1;
pub const SPUR_ROW_STEP: u32 = 2;
pub const SPUR_ROW_EVENT: u32 = 3;
pub const SPUR_ROW_USAGE: u32 = 4;
pub const SPUR_ROW_ACCOUNT: u32 = 5;
pub const SPUR_ROW_USER: u32 = 6;
pub const SPUR_ROW_ASSOCIATION: u32 = 7;
pub const SPUR_ROW_QOS: u32 = 8;
pub const SPUR_ROW_TRES: u32 = 9;
pub const SPUR_ROW_RESERVATION: u32 = 10;
pub const SPUR_ROW_CLUSTER: u32 = 11;
pub const SPUR_ROW_TRANSACTION: u32 = 12;
pub const SPUR_ROW_WCKEY: u32 = 13;
pub const SPUR_ROW_SET_ASIDE: u32 = 14;
pub const SPUR_ROW_ROLLUP: u32 = 15;
pub const SPUR_FIELD_NULL: u32 = 0;
pub const SPUR_FIELD_INT: u32 = 1;
pub const SPUR_FIELD_REAL: u32 = 2;
pub const SPUR_FIELD_TEXT: u32 = 3;
pub const SPUR_FIELD_BYTES: u32 = 4;
pub const SPUR_FIELD_TRES: u32 = 5;
pub const SPUR_STORE_POISON: spur_status = 1;
pub const SPUR_TEST_EQUAL: u32 = 1;
pub const SPUR_TEST_IN: u32 = 2;
pub const SPUR_TEST_AT_LEAST: u32 = 3;
pub const SPUR_TEST_BELOW: u32 = 4;
pub const SPUR_TEST_LIKE: u32 = 5;
pub const SPUR_TEST_OVERLAPS: u32 = 6;
pub const SPUR_TEST_HOSTS: u32 = 7;
pub const SPUR_TEST_BITS_ALL: u32 = 8;
pub const SPUR_TEST_BITS_ANY: u32 = 9;
pub const SPUR_TEST_NULL: u32 = 10;
pub const SPUR_SUM_COUNT: u32 = 1;
pub const SPUR_SUM_TOTAL: u32 = 2;
pub const SPUR_SUM_LEAST: u32 = 3;
pub const SPUR_SUM_MOST: u32 = 4;
pub const SPUR_SCHEMA_EMPTY: u32 = 1;
pub const SPUR_SCHEMA_CURRENT: u32 = 2;
pub const SPUR_SCHEMA_OLDER: u32 = 3;
pub const SPUR_SCHEMA_NEWER: u32 = 4;
pub const SPUR_SCHEMA_FOREIGN: u32 = 5;
pub const SPUR_ACCOUNTING_DISCARDS: u32 = 1;
pub const SPUR_GPU_IFACE: &[u8] = b"spur.gpu/1\0";
pub const SPUR_GPU_HEALTHY: u32 = 1;
pub const SPUR_GPU_DEGRADED: u32 = 2;
pub const SPUR_GPU_FAILED: u32 = 3;
pub const SPUR_GPU_TO_DEVICE: u32 = 0;
pub const SPUR_GPU_TO_PCI: u32 = 1;
pub const SPUR_GPU_ISOLATED: u32 = 1;
pub const SPUR_JOB_SUBMIT_IFACE: &[u8] = b"spur.job_submit/1\0";
pub const SPUR_SUBMIT_REFUSED: spur_status = 1;
pub const SPUR_SUBMIT_DEFAULT: u32 = 1;
pub const SPUR_SUBMIT_HIDDEN: u32 = 2;
pub const SPUR_NET_IFACE: &[u8] = b"spur.net/1\0";
pub const SPUR_NET_CONTROLLER: u32 = 1;
pub const SPUR_NET_BEHIND_NAT: u32 = 2;
pub const SPUR_NET_UNKNOWN: u32 = 0;
pub const SPUR_NET_REACHABLE: u32 = 1;
pub const SPUR_NET_UNREACHABLE: u32 = 2;
pub const SPUR_VALUE_ABSENT: u32 = 0;
pub const SPUR_VALUE_TEXT: u32 = 1;
pub const SPUR_VALUE_NUMBER: u32 = 2;
pub const SPUR_VALUE_REAL: u32 = 3;
pub const SPUR_VALUE_FLAG: u32 = 4;
pub const SPUR_VALUE_TIME: u32 = 5;
pub const SPUR_VALUE_SECONDS: u32 = 6;
pub const SPUR_VALUE_MIB: u32 = 7;
pub const SPUR_VALUE_EXIT: u32 = 8;
pub const SPUR_VALUE_UNLIMITED: i64 = 9223372036854775807;
pub const SPUR_RECORD_WRITABLE: u32 = 1;
pub const SPUR_SET_READ_ONLY: spur_status = 1;
pub const SPUR_SET_REFUSED: spur_status = 2;
pub const SPUR_RECORD_JOB: u32 = 1;
pub const SPUR_PRIORITY_IFACE: &[u8] = b"spur.priority/1\0";
pub const SPUR_FACTOR_AGE: &[u8] = b"age\0";
pub const SPUR_FACTOR_FAIRSHARE: &[u8] = b"fairshare\0";
pub const SPUR_FACTOR_JOB_SIZE: &[u8] = b"job_size\0";
pub const SPUR_FACTOR_PARTITION: &[u8] = b"partition\0";
pub const SPUR_FACTOR_QOS: &[u8] = b"qos\0";
pub const SPUR_FACTOR_ASSOCIATION: &[u8] = b"association\0";
pub const SPUR_FACTOR_TRES: &[u8] = b"tres/\0";
pub const SPUR_SCHED_IFACE: &[u8] = b"spur.sched/1\0";
pub const SPUR_WAIT_PRIORITY: u32 = 1;
pub const SPUR_WAIT_RESOURCES: u32 = 2;
pub const SPUR_WAIT_NODES_UNAVAILABLE: u32 = 3;
pub const SPUR_WAIT_PARTITION_DOWN: u32 = 4;
pub const SPUR_WAIT_PARTITION_INACTIVE: u32 = 5;
pub const SPUR_WAIT_PARTITION_NODE_LIMIT: u32 = 6;
pub const SPUR_WAIT_PARTITION_TIME_LIMIT: u32 = 7;
pub const SPUR_WAIT_LICENSES: u32 = 8;
pub const SPUR_WAIT_RESERVATION: u32 = 9;
pub const SPUR_WAIT_NEVER: u32 = 10;
pub const SPUR_WAIT_DEADLINE: u32 = 11;
pub const SPUR_WAIT_TOPOLOGY: u32 = 12;
pub const SPUR_WAIT_LIMIT: u32 = 13;
pub const SPUR_MAY_START: spur_status = 0;
pub const SPUR_LIMITED: spur_status = 1;
pub const SPUR_REJECTED: spur_status = 2;
pub const SPUR_PREEMPT_PROMISE_S: u32 = 300;
pub const SPUR_SELECT_IFACE: &[u8] = b"spur.select/1\0";
pub const SPUR_FITS: spur_status = 0;
pub const SPUR_NOT_NOW: spur_status = 1;
pub const SPUR_NEVER: spur_status = 2;
pub const SPUR_NO_ROOM: spur_status = 3;
pub const SPUR_PICK_TEST_ONLY: u32 = 1;
pub const SPUR_PICK_EMPTY: u32 = 2;
pub const SPUR_PICK_BRIEF: u32 = 4;
pub const SPUR_STATE_IFACE: &[u8] = b"spur.state/1\0";
pub const SPUR_STATE_FOLLOWER: u32 = 1;
pub const SPUR_STATE_CANDIDATE: u32 = 2;
pub const SPUR_STATE_LEADER: u32 = 3;
pub const SPUR_STATE_NOT_LEADER: spur_status = 1;
pub const SPUR_STATE_UNKNOWN: spur_status = 2;
pub const SPUR_STATE_VOLATILE: u32 = 1;

const _: () = assert!(std::mem::size_of::<spur_error>() == 256);
const _: () = assert!(std::mem::size_of::<spur_span>() == 16);
const _: () = assert!(std::mem::size_of::<spur_str>() == 16);
const _: () = assert!(std::mem::size_of::<spur_bytes>() == 16);
const _: () = assert!(std::mem::size_of::<spur_bits>() == 16);
const _: () = assert!(std::mem::size_of::<spur_sink>() == 24);
const _: () = assert!(std::mem::size_of::<spur_source>() == 24);
const _: () = assert!(std::mem::size_of::<spur_stop>() == 32);
const _: () = assert!(std::mem::size_of::<spur_option>() == 56);
const _: () = assert!(std::mem::size_of::<spur_config_value>() == 56);
const _: () = assert!(std::mem::size_of::<spur_config>() == 32);
const _: () = assert!(std::mem::size_of::<spur_host>() == 40);
const _: () = assert!(std::mem::size_of::<spur_plugin_desc>() == 88);
const _: () = assert!(std::mem::size_of::<spur_module>() == 24);
const _: () = assert!(std::mem::size_of::<spur_log>() == 32);
const _: () = assert!(std::mem::size_of::<spur_clock>() == 32);
const _: () = assert!(std::mem::size_of::<spur_config_service>() == 24);
const _: () = assert!(std::mem::size_of::<spur_executor>() == 64);
const _: () = assert!(std::mem::size_of::<spur_notify>() == 24);
const _: () = assert!(std::mem::size_of::<spur_metric>() == 72);
const _: () = assert!(std::mem::size_of::<spur_metrics>() == 56);
const _: () = assert!(std::mem::size_of::<spur_store_change>() == 40);
const _: () = assert!(std::mem::size_of::<spur_store>() == 40);
const _: () = assert!(std::mem::size_of::<spur_device_view>() == 56);
const _: () = assert!(std::mem::size_of::<spur_device_link>() == 24);
const _: () = assert!(std::mem::size_of::<spur_gres_view>() == 56);
const _: () = assert!(std::mem::size_of::<spur_node_view>() == 168);
const _: () = assert!(std::mem::size_of::<spur_gres_share>() == 32);
const _: () = assert!(std::mem::size_of::<spur_node_share>() == 56);
const _: () = assert!(std::mem::size_of::<spur_placement>() == 72);
const _: () = assert!(std::mem::size_of::<spur_gres_request>() == 24);
const _: () = assert!(std::mem::size_of::<spur_license_request>() == 8);
const _: () = assert!(std::mem::size_of::<spur_node_quota>() == 24);
const _: () = assert!(std::mem::size_of::<spur_job_view>() == 424);
const _: () = assert!(std::mem::size_of::<spur_partition_view>() == 88);
const _: () = assert!(std::mem::size_of::<spur_tres_weight>() == 16);
const _: () = assert!(std::mem::size_of::<spur_reservation_view>() == 88);
const _: () = assert!(std::mem::size_of::<spur_license_view>() == 24);
const _: () = assert!(std::mem::size_of::<spur_qos_view>() == 56);
const _: () = assert!(std::mem::size_of::<spur_association_view>() == 56);
const _: () = assert!(std::mem::size_of::<spur_group_view>() == 64);
const _: () = assert!(std::mem::size_of::<spur_view_changes>() == 96);
const _: () = assert!(std::mem::size_of::<spur_cluster_view>() == 256);
const _: () = assert!(std::mem::size_of::<spur_auth_request>() == 152);
const _: () = assert!(std::mem::size_of::<spur_auth_reply>() == 56);
const _: () = assert!(std::mem::size_of::<spur_identity>() == 192);
const _: () = assert!(std::mem::size_of::<spur_claims>() == 24);
const _: () = assert!(std::mem::size_of::<spur_token_request>() == 64);
const _: () = assert!(std::mem::size_of::<spur_auth_ops>() == 64);
const _: () = assert!(std::mem::size_of::<spur_cgroup_scope>() == 24);
const _: () = assert!(std::mem::size_of::<spur_cgroup_limit>() == 16);
const _: () = assert!(std::mem::size_of::<spur_cgroup_device>() == 16);
const _: () = assert!(std::mem::size_of::<spur_cgroup_io>() == 72);
const _: () = assert!(std::mem::size_of::<spur_cgroup_limits>() == 152);
const _: () = assert!(std::mem::size_of::<spur_cgroup_usage>() == 56);
const _: () = assert!(std::mem::size_of::<spur_cgroup_events>() == 16);
const _: () = assert!(std::mem::size_of::<spur_cgroup_ops>() == 104);
const _: () = assert!(std::mem::size_of::<spur_tres>() == 24);
const _: () = assert!(std::mem::size_of::<spur_field>() == 64);
const _: () = assert!(std::mem::size_of::<spur_row>() == 32);
const _: () = assert!(std::mem::size_of::<spur_batch>() == 72);
const _: () = assert!(std::mem::size_of::<spur_store_report>() == 24);
const _: () = assert!(std::mem::size_of::<spur_condition>() == 40);
const _: () = assert!(std::mem::size_of::<spur_sum>() == 32);
const _: () = assert!(std::mem::size_of::<spur_query>() == 120);
const _: () = assert!(std::mem::size_of::<spur_row_sink>() == 32);
const _: () = assert!(std::mem::size_of::<spur_archive>() == 32);
const _: () = assert!(std::mem::size_of::<spur_schema>() == 16);
const _: () = assert!(std::mem::size_of::<spur_progress>() == 24);
const _: () = assert!(std::mem::size_of::<spur_accounting_ops>() == 56);
const _: () = assert!(std::mem::size_of::<spur_gpu_device>() == 184);
const _: () = assert!(std::mem::size_of::<spur_gpu_link>() == 48);
const _: () = assert!(std::mem::size_of::<spur_gpu_sink>() == 32);
const _: () = assert!(std::mem::size_of::<spur_gpu_grant>() == 24);
const _: () = assert!(std::mem::size_of::<spur_gpu_binding>() == 48);
const _: () = assert!(std::mem::size_of::<spur_gpu_env_sink>() == 32);
const _: () = assert!(std::mem::size_of::<spur_gpu_load>() == 72);
const _: () = assert!(std::mem::size_of::<spur_gpu_process>() == 32);
const _: () = assert!(std::mem::size_of::<spur_gpu_process_sink>() == 24);
const _: () = assert!(std::mem::size_of::<spur_gpu_profile>() == 48);
const _: () = assert!(std::mem::size_of::<spur_gpu_profile_sink>() == 24);
const _: () = assert!(std::mem::size_of::<spur_gpu_ops>() == 80);
const _: () = assert!(std::mem::size_of::<spur_submit_partition>() == 24);
const _: () = assert!(std::mem::size_of::<spur_submit>() == 64);
const _: () = assert!(std::mem::size_of::<spur_job_submit_ops>() == 16);
const _: () = assert!(std::mem::size_of::<spur_net_member>() == 80);
const _: () = assert!(std::mem::size_of::<spur_net_listener>() == 32);
const _: () = assert!(std::mem::size_of::<spur_net_status>() == 48);
const _: () = assert!(std::mem::size_of::<spur_net_ops>() == 64);
const _: () = assert!(std::mem::size_of::<spur_value>() == 40);
const _: () = assert!(std::mem::size_of::<spur_record_field>() == 32);
const _: () = assert!(std::mem::size_of::<spur_record>() == 56);
const _: () = assert!(std::mem::size_of::<spur_factor>() == 48);
const _: () = assert!(std::mem::size_of::<spur_factor_sink>() == 24);
const _: () = assert!(std::mem::size_of::<spur_priority_query>() == 24);
const _: () = assert!(std::mem::size_of::<spur_priority>() == 16);
const _: () = assert!(std::mem::size_of::<spur_scores>() == 40);
const _: () = assert!(std::mem::size_of::<spur_share>() == 40);
const _: () = assert!(std::mem::size_of::<spur_priority_ops>() == 40);
const _: () = assert!(std::mem::size_of::<spur_plan_sink>() == 64);
const _: () = assert!(std::mem::size_of::<spur_selector>() == 24);
const _: () = assert!(std::mem::size_of::<spur_sched_ops>() == 24);
const _: () = assert!(std::mem::size_of::<spur_pick>() == 40);
const _: () = assert!(std::mem::size_of::<spur_select_ops>() == 96);
const _: () = assert!(std::mem::size_of::<spur_state_entry>() == 32);
const _: () = assert!(std::mem::size_of::<spur_state_status>() == 576);
const _: () = assert!(std::mem::size_of::<spur_state_member>() == 40);
const _: () = assert!(std::mem::size_of::<spur_state_listener>() == 64);
const _: () = assert!(std::mem::size_of::<spur_state_ops>() == 80);

#[cfg(test)]
mod layout {
    use super::*;

    macro_rules! same {
        ($of:ident, $member:ident, $offset:expr) => {{
            let place = std::mem::MaybeUninit::<$of>::uninit();
            let base = place.as_ptr();
            let member = unsafe { std::ptr::addr_of!((*base).$member) };
            assert_eq!(member as usize - base as usize, $offset);
        }};
    }

    #[test]
    fn members_are_where_the_c_compiler_puts_them() {
        same!(spur_error, size, 0);
        same!(spur_error, code, 4);
        same!(spur_error, text, 8);
        same!(spur_span, data, 0);
        same!(spur_span, count, 8);
        same!(spur_span, stride, 12);
        same!(spur_str, data, 0);
        same!(spur_str, length, 8);
        same!(spur_str, reserved, 12);
        same!(spur_bytes, data, 0);
        same!(spur_bytes, length, 8);
        same!(spur_bits, words, 0);
        same!(spur_bits, count, 8);
        same!(spur_bits, reserved, 12);
        same!(spur_sink, size, 0);
        same!(spur_sink, reserved, 4);
        same!(spur_sink, context, 8);
        same!(spur_sink, write, 16);
        same!(spur_source, size, 0);
        same!(spur_source, reserved, 4);
        same!(spur_source, context, 8);
        same!(spur_source, read, 16);
        same!(spur_stop, size, 0);
        same!(spur_stop, fd, 4);
        same!(spur_stop, deadline_ns, 8);
        same!(spur_stop, context, 16);
        same!(spur_stop, stopped, 24);
        same!(spur_option, key, 0);
        same!(spur_option, kind, 8);
        same!(spur_option, flags, 12);
        same!(spur_option, fallback, 16);
        same!(spur_option, help, 24);
        same!(spur_option, choices, 32);
        same!(spur_option, minimum, 40);
        same!(spur_option, maximum, 48);
        same!(spur_config_value, key, 0);
        same!(spur_config_value, kind, 8);
        same!(spur_config_value, is_default, 12);
        same!(spur_config_value, integer, 16);
        same!(spur_config_value, real, 24);
        same!(spur_config_value, text, 32);
        same!(spur_config_value, list, 40);
        same!(spur_config_value, list_count, 48);
        same!(spur_config_value, line, 52);
        same!(spur_config, size, 0);
        same!(spur_config, reserved, 4);
        same!(spur_config, values, 8);
        same!(spur_config, source, 24);
        same!(spur_host, size, 0);
        same!(spur_host, reserved, 4);
        same!(spur_host, program, 8);
        same!(spur_host, version, 16);
        same!(spur_host, service, 24);
        same!(spur_host, context, 32);
        same!(spur_plugin_desc, size, 0);
        same!(spur_plugin_desc, reserved, 4);
        same!(spur_plugin_desc, r#type, 8);
        same!(spur_plugin_desc, version, 16);
        same!(spur_plugin_desc, vendor, 24);
        same!(spur_plugin_desc, summary, 32);
        same!(spur_plugin_desc, options, 40);
        same!(spur_plugin_desc, option_count, 48);
        same!(spur_plugin_desc, option_stride, 52);
        same!(spur_plugin_desc, interfaces, 56);
        same!(spur_plugin_desc, create, 64);
        same!(spur_plugin_desc, destroy, 72);
        same!(spur_plugin_desc, query, 80);
        same!(spur_module, size, 0);
        same!(spur_module, abi, 4);
        same!(spur_module, built_with, 8);
        same!(spur_module, plugins, 16);
        same!(spur_log, size, 0);
        same!(spur_log, reserved, 4);
        same!(spur_log, context, 8);
        same!(spur_log, write, 16);
        same!(spur_log, enabled, 24);
        same!(spur_clock, size, 0);
        same!(spur_clock, reserved, 4);
        same!(spur_clock, context, 8);
        same!(spur_clock, unix_ns, 16);
        same!(spur_clock, monotonic_ns, 24);
        same!(spur_config_service, size, 0);
        same!(spur_config_service, reserved, 4);
        same!(spur_config_service, context, 8);
        same!(spur_config_service, get, 16);
        same!(spur_executor, size, 0);
        same!(spur_executor, reserved, 4);
        same!(spur_executor, context, 8);
        same!(spur_executor, post, 16);
        same!(spur_executor, post_blocking, 24);
        same!(spur_executor, post_after, 32);
        same!(spur_executor, post_every, 40);
        same!(spur_executor, watch_fd, 48);
        same!(spur_executor, cancel, 56);
        same!(spur_notify, size, 0);
        same!(spur_notify, reserved, 4);
        same!(spur_notify, context, 8);
        same!(spur_notify, changed, 16);
        same!(spur_metric, size, 0);
        same!(spur_metric, kind, 4);
        same!(spur_metric, name, 8);
        same!(spur_metric, help, 24);
        same!(spur_metric, labels, 40);
        same!(spur_metric, bounds, 56);
        same!(spur_metrics, size, 0);
        same!(spur_metrics, reserved, 4);
        same!(spur_metrics, context, 8);
        same!(spur_metrics, define, 16);
        same!(spur_metrics, series, 24);
        same!(spur_metrics, forget, 32);
        same!(spur_metrics, add, 40);
        same!(spur_metrics, set, 48);
        same!(spur_store_change, what, 0);
        same!(spur_store_change, reserved, 4);
        same!(spur_store_change, key, 8);
        same!(spur_store_change, value, 24);
        same!(spur_store, size, 0);
        same!(spur_store, reserved, 4);
        same!(spur_store, context, 8);
        same!(spur_store, get, 16);
        same!(spur_store, change, 24);
        same!(spur_store, each, 32);
        same!(spur_device_view, index, 0);
        same!(spur_device_view, r#type, 4);
        same!(spur_device_view, socket, 8);
        same!(spur_device_view, parent, 12);
        same!(spur_device_view, parent_gres, 16);
        same!(spur_device_view, reserved, 20);
        same!(spur_device_view, units_total, 24);
        same!(spur_device_view, units_used, 32);
        same!(spur_device_view, cores, 40);
        same!(spur_device_link, from, 0);
        same!(spur_device_link, to, 4);
        same!(spur_device_link, to_gres, 8);
        same!(spur_device_link, weight, 12);
        same!(spur_device_link, kind, 16);
        same!(spur_device_link, reserved, 20);
        same!(spur_gres_view, name, 0);
        same!(spur_gres_view, reserved, 4);
        same!(spur_gres_view, total, 8);
        same!(spur_gres_view, used, 16);
        same!(spur_gres_view, devices, 24);
        same!(spur_gres_view, links, 40);
        same!(spur_node_view, name, 0);
        same!(spur_node_view, flags, 16);
        same!(spur_node_view, weight, 20);
        same!(spur_node_view, sockets, 24);
        same!(spur_node_view, cores_per_socket, 28);
        same!(spur_node_view, threads_per_core, 32);
        same!(spur_node_view, cpus, 36);
        same!(spur_node_view, cpus_used, 40);
        same!(spur_node_view, klass, 44);
        same!(spur_node_view, memory_mib, 48);
        same!(spur_node_view, memory_used_mib, 56);
        same!(spur_node_view, tmp_mib, 64);
        same!(spur_node_view, cores_used, 72);
        same!(spur_node_view, cores_offered, 88);
        same!(spur_node_view, features, 104);
        same!(spur_node_view, gres, 120);
        same!(spur_node_view, groups, 136);
        same!(spur_node_view, owner_uid, 152);
        same!(spur_node_view, running_jobs, 156);
        same!(spur_node_view, most_jobs_per_core, 160);
        same!(spur_node_view, reserved, 164);
        same!(spur_gres_share, name, 0);
        same!(spur_gres_share, r#type, 4);
        same!(spur_gres_share, count, 8);
        same!(spur_gres_share, devices, 16);
        same!(spur_node_share, node, 0);
        same!(spur_node_share, cpus, 4);
        same!(spur_node_share, memory_mib, 8);
        same!(spur_node_share, cores, 16);
        same!(spur_node_share, gres, 32);
        same!(spur_node_share, tasks, 48);
        same!(spur_node_share, flags, 52);
        same!(spur_placement, size, 0);
        same!(spur_placement, share_count, 4);
        same!(spur_placement, share_capacity, 8);
        same!(spur_placement, share_wanted, 12);
        same!(spur_placement, shares, 16);
        same!(spur_placement, gres_count, 24);
        same!(spur_placement, gres_capacity, 28);
        same!(spur_placement, gres_wanted, 32);
        same!(spur_placement, word_count, 36);
        same!(spur_placement, word_capacity, 40);
        same!(spur_placement, word_wanted, 44);
        same!(spur_placement, gres, 48);
        same!(spur_placement, words, 56);
        same!(spur_placement, score, 64);
        same!(spur_gres_request, name, 0);
        same!(spur_gres_request, r#type, 4);
        same!(spur_gres_request, scope, 8);
        same!(spur_gres_request, reserved, 12);
        same!(spur_gres_request, count, 16);
        same!(spur_license_request, license, 0);
        same!(spur_license_request, count, 4);
        same!(spur_node_quota, nodes, 0);
        same!(spur_node_quota, count, 16);
        same!(spur_node_quota, reserved, 20);
        same!(spur_job_view, id, 0);
        same!(spur_job_view, flags, 4);
        same!(spur_job_view, klass, 8);
        same!(spur_job_view, wishes, 16);
        same!(spur_job_view, priority, 24);
        same!(spur_job_view, uid, 32);
        same!(spur_job_view, gid, 36);
        same!(spur_job_view, association, 40);
        same!(spur_job_view, qos, 44);
        same!(spur_job_view, partitions, 48);
        same!(spur_job_view, reservation, 64);
        same!(spur_job_view, array_tasks, 68);
        same!(spur_job_view, array_task, 72);
        same!(spur_job_view, het_group, 76);
        same!(spur_job_view, restarts, 80);
        same!(spur_job_view, submitted, 88);
        same!(spur_job_view, eligible, 96);
        same!(spur_job_view, started, 104);
        same!(spur_job_view, ends, 112);
        same!(spur_job_view, deadline, 120);
        same!(spur_job_view, limit_s, 128);
        same!(spur_job_view, limit_min_s, 132);
        same!(spur_job_view, min_nodes, 136);
        same!(spur_job_view, max_nodes, 140);
        same!(spur_job_view, tasks, 144);
        same!(spur_job_view, cpus_per_task, 148);
        same!(spur_job_view, tasks_per_node, 152);
        same!(spur_job_view, tasks_per_socket, 156);
        same!(spur_job_view, tasks_per_core, 160);
        same!(spur_job_view, tasks_per_gpu, 164);
        same!(spur_job_view, min_cpus_per_node, 168);
        same!(spur_job_view, cpus_per_gpu, 172);
        same!(spur_job_view, min_sockets, 176);
        same!(spur_job_view, min_cores_per_socket, 180);
        same!(spur_job_view, min_threads_per_core, 184);
        same!(spur_job_view, spread_nodes, 188);
        same!(spur_job_view, spread_sockets, 192);
        same!(spur_job_view, plane_size, 196);
        same!(spur_job_view, mem_per_node_mib, 200);
        same!(spur_job_view, mem_per_cpu_mib, 208);
        same!(spur_job_view, mem_per_gpu_mib, 216);
        same!(spur_job_view, tmp_mib, 224);
        same!(spur_job_view, gres, 232);
        same!(spur_job_view, licenses, 248);
        same!(spur_job_view, eligible_nodes, 264);
        same!(spur_job_view, required_nodes, 280);
        same!(spur_job_view, alternatives, 296);
        same!(spur_job_view, quotas, 312);
        same!(spur_job_view, preferred_nodes, 328);
        same!(spur_job_view, max_switches, 344);
        same!(spur_job_view, reserved, 348);
        same!(spur_job_view, switches_until, 352);
        same!(spur_job_view, preempt_tier, 360);
        same!(spur_job_view, preempt_mode, 364);
        same!(spur_job_view, preempt_exempt_until, 368);
        same!(spur_job_view, held, 376);
        same!(spur_job_view, ran_s, 384);
        same!(spur_job_view, name, 392);
        same!(spur_job_view, extra, 408);
        same!(spur_partition_view, name, 0);
        same!(spur_partition_view, nodes, 16);
        same!(spur_partition_view, state, 32);
        same!(spur_partition_view, tier, 36);
        same!(spur_partition_view, max_time_s, 40);
        same!(spur_partition_view, max_nodes, 44);
        same!(spur_partition_view, max_cpus_per_node, 48);
        same!(spur_partition_view, min_nodes, 52);
        same!(spur_partition_view, job_factor, 56);
        same!(spur_partition_view, oversubscribe, 60);
        same!(spur_partition_view, least_loaded, 64);
        same!(spur_partition_view, exclusive_user, 68);
        same!(spur_partition_view, billing, 72);
        same!(spur_tres_weight, tres, 0);
        same!(spur_tres_weight, reserved, 4);
        same!(spur_tres_weight, weight, 8);
        same!(spur_reservation_view, name, 0);
        same!(spur_reservation_view, start, 16);
        same!(spur_reservation_view, end, 24);
        same!(spur_reservation_view, flags, 32);
        same!(spur_reservation_view, partition, 36);
        same!(spur_reservation_view, nodes, 40);
        same!(spur_reservation_view, cores, 56);
        same!(spur_reservation_view, licenses, 72);
        same!(spur_license_view, name, 0);
        same!(spur_license_view, total, 16);
        same!(spur_license_view, used, 20);
        same!(spur_qos_view, name, 0);
        same!(spur_qos_view, priority, 16);
        same!(spur_qos_view, preempt_mode, 20);
        same!(spur_qos_view, preempts, 24);
        same!(spur_qos_view, usage_factor, 40);
        same!(spur_qos_view, exempt_s, 48);
        same!(spur_association_view, account, 0);
        same!(spur_association_view, user, 16);
        same!(spur_association_view, parent, 32);
        same!(spur_association_view, shares, 36);
        same!(spur_association_view, uid, 40);
        same!(spur_association_view, priority, 44);
        same!(spur_association_view, usage, 48);
        same!(spur_group_view, name, 0);
        same!(spur_group_view, kind, 16);
        same!(spur_group_view, level, 20);
        same!(spur_group_view, parent, 24);
        same!(spur_group_view, reserved, 28);
        same!(spur_group_view, nodes, 32);
        same!(spur_group_view, order, 48);
        same!(spur_view_changes, size, 0);
        same!(spur_view_changes, complete, 4);
        same!(spur_view_changes, since, 8);
        same!(spur_view_changes, nodes, 16);
        same!(spur_view_changes, new_pending, 32);
        same!(spur_view_changes, new_running, 48);
        same!(spur_view_changes, gone_pending, 64);
        same!(spur_view_changes, gone_running, 80);
        same!(spur_cluster_view, size, 0);
        same!(spur_cluster_view, reserved, 4);
        same!(spur_cluster_view, number, 8);
        same!(spur_cluster_view, now, 16);
        same!(spur_cluster_view, nodes, 24);
        same!(spur_cluster_view, pending, 40);
        same!(spur_cluster_view, pending_order, 56);
        same!(spur_cluster_view, running, 72);
        same!(spur_cluster_view, running_order, 88);
        same!(spur_cluster_view, partitions, 104);
        same!(spur_cluster_view, reservations, 120);
        same!(spur_cluster_view, licenses, 136);
        same!(spur_cluster_view, qos, 152);
        same!(spur_cluster_view, associations, 168);
        same!(spur_cluster_view, groups, 184);
        same!(spur_cluster_view, features, 200);
        same!(spur_cluster_view, gres_names, 216);
        same!(spur_cluster_view, gres_types, 232);
        same!(spur_cluster_view, changes, 248);
        same!(spur_auth_request, size, 0);
        same!(spur_auth_request, reserved, 4);
        same!(spur_auth_request, binding, 8);
        same!(spur_auth_request, method, 40);
        same!(spur_auth_request, audience, 56);
        same!(spur_auth_request, server, 72);
        same!(spur_auth_request, on_behalf_of, 88);
        same!(spur_auth_request, peer, 104);
        same!(spur_auth_request, peer_name, 120);
        same!(spur_auth_request, token, 136);
        same!(spur_auth_reply, size, 0);
        same!(spur_auth_reply, reserved, 4);
        same!(spur_auth_reply, binding, 8);
        same!(spur_auth_reply, credential, 40);
        same!(spur_identity, size, 0);
        same!(spur_identity, uid, 4);
        same!(spur_identity, gid, 8);
        same!(spur_identity, flags, 12);
        same!(spur_identity, issued, 16);
        same!(spur_identity, expires, 24);
        same!(spur_identity, user, 32);
        same!(spur_identity, mechanism, 96);
        same!(spur_identity, origin, 128);
        same!(spur_claims, size, 0);
        same!(spur_claims, reserved, 4);
        same!(spur_claims, context, 8);
        same!(spur_claims, claim, 16);
        same!(spur_token_request, size, 0);
        same!(spur_token_request, uid, 4);
        same!(spur_token_request, user, 8);
        same!(spur_token_request, expires, 24);
        same!(spur_token_request, scopes, 32);
        same!(spur_token_request, audience, 48);
        same!(spur_auth_ops, size, 0);
        same!(spur_auth_ops, features, 4);
        same!(spur_auth_ops, make, 8);
        same!(spur_auth_ops, verify, 16);
        same!(spur_auth_ops, make_answer, 24);
        same!(spur_auth_ops, verify_answer, 32);
        same!(spur_auth_ops, issue, 40);
        same!(spur_auth_ops, challenge, 48);
        same!(spur_auth_ops, respond, 56);
        same!(spur_cgroup_scope, size, 0);
        same!(spur_cgroup_scope, job, 4);
        same!(spur_cgroup_scope, attempt, 8);
        same!(spur_cgroup_scope, step, 12);
        same!(spur_cgroup_scope, task, 16);
        same!(spur_cgroup_scope, reserved, 20);
        same!(spur_cgroup_limit, rule, 0);
        same!(spur_cgroup_limit, reserved, 4);
        same!(spur_cgroup_limit, value, 8);
        same!(spur_cgroup_device, kind, 0);
        same!(spur_cgroup_device, major_number, 4);
        same!(spur_cgroup_device, minor_number, 8);
        same!(spur_cgroup_device, access, 12);
        same!(spur_cgroup_io, major_number, 0);
        same!(spur_cgroup_io, minor_number, 4);
        same!(spur_cgroup_io, read_bytes, 8);
        same!(spur_cgroup_io, write_bytes, 24);
        same!(spur_cgroup_io, read_ops, 40);
        same!(spur_cgroup_io, write_ops, 56);
        same!(spur_cgroup_limits, size, 0);
        same!(spur_cgroup_limits, device_rule, 4);
        same!(spur_cgroup_limits, memory, 8);
        same!(spur_cgroup_limits, swap, 24);
        same!(spur_cgroup_limits, processes, 40);
        same!(spur_cgroup_limits, cpu_quota, 56);
        same!(spur_cgroup_limits, cpu_weight, 72);
        same!(spur_cgroup_limits, io_weight, 88);
        same!(spur_cgroup_limits, cpu_list, 104);
        same!(spur_cgroup_limits, io, 120);
        same!(spur_cgroup_limits, devices, 136);
        same!(spur_cgroup_usage, size, 0);
        same!(spur_cgroup_usage, processes, 4);
        same!(spur_cgroup_usage, user_us, 8);
        same!(spur_cgroup_usage, system_us, 16);
        same!(spur_cgroup_usage, memory_peak_bytes, 24);
        same!(spur_cgroup_usage, oom_kills, 32);
        same!(spur_cgroup_usage, read_bytes, 40);
        same!(spur_cgroup_usage, write_bytes, 48);
        same!(spur_cgroup_events, size, 0);
        same!(spur_cgroup_events, populated, 4);
        same!(spur_cgroup_events, oom_kills, 8);
        same!(spur_cgroup_ops, size, 0);
        same!(spur_cgroup_ops, reserved, 4);
        same!(spur_cgroup_ops, capabilities, 8);
        same!(spur_cgroup_ops, make, 16);
        same!(spur_cgroup_ops, attach, 24);
        same!(spur_cgroup_ops, freeze, 32);
        same!(spur_cgroup_ops, signal, 40);
        same!(spur_cgroup_ops, usage, 48);
        same!(spur_cgroup_ops, processes, 56);
        same!(spur_cgroup_ops, remove, 64);
        same!(spur_cgroup_ops, scopes, 72);
        same!(spur_cgroup_ops, open, 80);
        same!(spur_cgroup_ops, watch, 88);
        same!(spur_cgroup_ops, events, 96);
        same!(spur_tres, name, 0);
        same!(spur_tres, count, 16);
        same!(spur_field, name, 0);
        same!(spur_field, kind, 8);
        same!(spur_field, reserved, 12);
        same!(spur_field, integer, 16);
        same!(spur_field, real, 24);
        same!(spur_field, text, 32);
        same!(spur_field, tres, 48);
        same!(spur_row, table, 0);
        same!(spur_row, removed, 4);
        same!(spur_row, sequence, 8);
        same!(spur_row, fields, 16);
        same!(spur_batch, size, 0);
        same!(spur_batch, reserved, 4);
        same!(spur_batch, cluster, 8);
        same!(spur_batch, stream, 24);
        same!(spur_batch, first, 40);
        same!(spur_batch, last, 48);
        same!(spur_batch, rows, 56);
        same!(spur_store_report, size, 0);
        same!(spur_store_report, reserved, 4);
        same!(spur_store_report, context, 8);
        same!(spur_store_report, poison, 16);
        same!(spur_condition, name, 0);
        same!(spur_condition, test, 8);
        same!(spur_condition, negate, 12);
        same!(spur_condition, group, 16);
        same!(spur_condition, reserved, 20);
        same!(spur_condition, values, 24);
        same!(spur_sum, kind, 0);
        same!(spur_sum, reserved, 4);
        same!(spur_sum, field, 8);
        same!(spur_sum, tres, 16);
        same!(spur_sum, r#as, 24);
        same!(spur_query, size, 0);
        same!(spur_query, table, 4);
        same!(spur_query, cluster, 8);
        same!(spur_query, conditions, 24);
        same!(spur_query, wanted, 40);
        same!(spur_query, groups, 56);
        same!(spur_query, sums, 72);
        same!(spur_query, order_by, 88);
        same!(spur_query, after, 96);
        same!(spur_query, limit, 112);
        same!(spur_query, with_removed, 116);
        same!(spur_row_sink, size, 0);
        same!(spur_row_sink, reserved, 4);
        same!(spur_row_sink, context, 8);
        same!(spur_row_sink, row, 16);
        same!(spur_row_sink, more, 24);
        same!(spur_archive, size, 0);
        same!(spur_archive, reserved, 4);
        same!(spur_archive, context, 8);
        same!(spur_archive, row, 16);
        same!(spur_archive, durable, 24);
        same!(spur_schema, size, 0);
        same!(spur_schema, state, 4);
        same!(spur_schema, found, 8);
        same!(spur_schema, known, 12);
        same!(spur_progress, size, 0);
        same!(spur_progress, reserved, 4);
        same!(spur_progress, context, 8);
        same!(spur_progress, step, 16);
        same!(spur_accounting_ops, size, 0);
        same!(spur_accounting_ops, features, 4);
        same!(spur_accounting_ops, schema, 8);
        same!(spur_accounting_ops, migrate, 16);
        same!(spur_accounting_ops, store, 24);
        same!(spur_accounting_ops, stored_up_to, 32);
        same!(spur_accounting_ops, query, 40);
        same!(spur_accounting_ops, purge, 48);
        same!(spur_gpu_device, size, 0);
        same!(spur_gpu_device, index, 4);
        same!(spur_gpu_device, numa_node, 8);
        same!(spur_gpu_device, health, 12);
        same!(spur_gpu_device, memory_mib, 16);
        same!(spur_gpu_device, key, 24);
        same!(spur_gpu_device, parent, 40);
        same!(spur_gpu_device, r#type, 56);
        same!(spur_gpu_device, model, 72);
        same!(spur_gpu_device, pci, 88);
        same!(spur_gpu_device, near_cpus, 104);
        same!(spur_gpu_device, device_files, 120);
        same!(spur_gpu_device, cdi, 136);
        same!(spur_gpu_device, profile, 152);
        same!(spur_gpu_device, clique, 168);
        same!(spur_gpu_link, size, 0);
        same!(spur_gpu_link, kind, 4);
        same!(spur_gpu_link, weight, 8);
        same!(spur_gpu_link, to_what, 12);
        same!(spur_gpu_link, from, 16);
        same!(spur_gpu_link, to, 32);
        same!(spur_gpu_sink, size, 0);
        same!(spur_gpu_sink, reserved, 4);
        same!(spur_gpu_sink, context, 8);
        same!(spur_gpu_sink, device, 16);
        same!(spur_gpu_sink, link, 24);
        same!(spur_gpu_grant, key, 0);
        same!(spur_gpu_grant, units, 16);
        same!(spur_gpu_binding, size, 0);
        same!(spur_gpu_binding, flags, 4);
        same!(spur_gpu_binding, job, 8);
        same!(spur_gpu_binding, attempt, 12);
        same!(spur_gpu_binding, step, 16);
        same!(spur_gpu_binding, task, 20);
        same!(spur_gpu_binding, uid, 24);
        same!(spur_gpu_binding, reserved, 28);
        same!(spur_gpu_binding, grants, 32);
        same!(spur_gpu_env_sink, size, 0);
        same!(spur_gpu_env_sink, reserved, 4);
        same!(spur_gpu_env_sink, context, 8);
        same!(spur_gpu_env_sink, variable, 16);
        same!(spur_gpu_env_sink, device_file, 24);
        same!(spur_gpu_load, size, 0);
        same!(spur_gpu_load, health, 4);
        same!(spur_gpu_load, busy, 8);
        same!(spur_gpu_load, power_watts, 16);
        same!(spur_gpu_load, temperature_c, 24);
        same!(spur_gpu_load, energy_joules, 32);
        same!(spur_gpu_load, clock_mhz, 40);
        same!(spur_gpu_load, memory_clock_mhz, 48);
        same!(spur_gpu_load, memory_used_mib, 56);
        same!(spur_gpu_load, errors, 64);
        same!(spur_gpu_process, size, 0);
        same!(spur_gpu_process, pid, 4);
        same!(spur_gpu_process, busy, 8);
        same!(spur_gpu_process, energy_joules, 16);
        same!(spur_gpu_process, memory_mib, 24);
        same!(spur_gpu_process_sink, size, 0);
        same!(spur_gpu_process_sink, reserved, 4);
        same!(spur_gpu_process_sink, context, 8);
        same!(spur_gpu_process_sink, process, 16);
        same!(spur_gpu_profile, size, 0);
        same!(spur_gpu_profile, most, 4);
        same!(spur_gpu_profile, memory_mib, 8);
        same!(spur_gpu_profile, name, 16);
        same!(spur_gpu_profile, r#type, 32);
        same!(spur_gpu_profile_sink, size, 0);
        same!(spur_gpu_profile_sink, reserved, 4);
        same!(spur_gpu_profile_sink, context, 8);
        same!(spur_gpu_profile_sink, profile, 16);
        same!(spur_gpu_ops, size, 0);
        same!(spur_gpu_ops, reserved, 4);
        same!(spur_gpu_ops, scan, 8);
        same!(spur_gpu_ops, bind, 16);
        same!(spur_gpu_ops, release, 24);
        same!(spur_gpu_ops, load, 32);
        same!(spur_gpu_ops, processes, 40);
        same!(spur_gpu_ops, watch, 48);
        same!(spur_gpu_ops, reset, 56);
        same!(spur_gpu_ops, profiles, 64);
        same!(spur_gpu_ops, partition, 72);
        same!(spur_submit_partition, name, 0);
        same!(spur_submit_partition, flags, 16);
        same!(spur_submit_partition, reserved, 20);
        same!(spur_submit, size, 0);
        same!(spur_submit, uid, 4);
        same!(spur_submit, gid, 8);
        same!(spur_submit, reserved, 12);
        same!(spur_submit, user, 16);
        same!(spur_submit, partitions, 32);
        same!(spur_submit, notes, 48);
        same!(spur_submit, stop, 56);
        same!(spur_job_submit_ops, size, 0);
        same!(spur_job_submit_ops, reserved, 4);
        same!(spur_job_submit_ops, submit, 8);
        same!(spur_net_member, size, 0);
        same!(spur_net_member, flags, 4);
        same!(spur_net_member, number, 8);
        same!(spur_net_member, name, 16);
        same!(spur_net_member, token, 32);
        same!(spur_net_member, endpoints, 48);
        same!(spur_net_member, routes, 64);
        same!(spur_net_listener, size, 0);
        same!(spur_net_listener, reserved, 4);
        same!(spur_net_listener, context, 8);
        same!(spur_net_listener, token, 16);
        same!(spur_net_listener, peer, 24);
        same!(spur_net_status, size, 0);
        same!(spur_net_status, state, 4);
        same!(spur_net_status, generation, 8);
        same!(spur_net_status, peers, 16);
        same!(spur_net_status, reachable, 20);
        same!(spur_net_status, last_seen, 24);
        same!(spur_net_status, sent_bytes, 32);
        same!(spur_net_status, received_bytes, 40);
        same!(spur_net_ops, size, 0);
        same!(spur_net_ops, reserved, 4);
        same!(spur_net_ops, invite, 8);
        same!(spur_net_ops, join, 16);
        same!(spur_net_ops, adopt, 24);
        same!(spur_net_ops, leave, 32);
        same!(spur_net_ops, change, 40);
        same!(spur_net_ops, addresses, 48);
        same!(spur_net_ops, status, 56);
        same!(spur_value, size, 0);
        same!(spur_value, kind, 4);
        same!(spur_value, number, 8);
        same!(spur_value, real, 16);
        same!(spur_value, text, 24);
        same!(spur_record_field, size, 0);
        same!(spur_record_field, kind, 4);
        same!(spur_record_field, flags, 8);
        same!(spur_record_field, reserved, 12);
        same!(spur_record_field, name, 16);
        same!(spur_record, size, 0);
        same!(spur_record, kind, 4);
        same!(spur_record, context, 8);
        same!(spur_record, count, 16);
        same!(spur_record, find, 24);
        same!(spur_record, describe, 32);
        same!(spur_record, get, 40);
        same!(spur_record, set, 48);
        same!(spur_factor, size, 0);
        same!(spur_factor, reserved, 4);
        same!(spur_factor, name, 8);
        same!(spur_factor, help, 24);
        same!(spur_factor, weight, 40);
        same!(spur_factor_sink, size, 0);
        same!(spur_factor_sink, reserved, 4);
        same!(spur_factor_sink, context, 8);
        same!(spur_factor_sink, factor, 16);
        same!(spur_priority_query, job, 0);
        same!(spur_priority_query, partition, 4);
        same!(spur_priority_query, nice, 8);
        same!(spur_priority_query, site_factor, 16);
        same!(spur_priority, total, 0);
        same!(spur_priority, exact, 8);
        same!(spur_scores, size, 0);
        same!(spur_scores, factor_count, 4);
        same!(spur_scores, totals, 8);
        same!(spur_scores, total_stride, 16);
        same!(spur_scores, reserved, 20);
        same!(spur_scores, raw, 24);
        same!(spur_scores, weighted, 32);
        same!(spur_share, normalised_shares, 0);
        same!(spur_share, normalised_usage, 8);
        same!(spur_share, effective_usage, 16);
        same!(spur_share, level, 24);
        same!(spur_share, factor, 32);
        same!(spur_priority_ops, size, 0);
        same!(spur_priority_ops, reserved, 4);
        same!(spur_priority_ops, score, 8);
        same!(spur_priority_ops, decay, 16);
        same!(spur_priority_ops, factors, 24);
        same!(spur_priority_ops, shares, 32);
        same!(spur_plan_sink, size, 0);
        same!(spur_plan_sink, reserved, 4);
        same!(spur_plan_sink, context, 8);
        same!(spur_plan_sink, stopped, 16);
        same!(spur_plan_sink, may_start, 24);
        same!(spur_plan_sink, start, 32);
        same!(spur_plan_sink, expect, 40);
        same!(spur_plan_sink, waits, 48);
        same!(spur_plan_sink, preempt, 56);
        same!(spur_selector, size, 0);
        same!(spur_selector, reserved, 4);
        same!(spur_selector, ops, 8);
        same!(spur_selector, this, 16);
        same!(spur_sched_ops, size, 0);
        same!(spur_sched_ops, reserved, 4);
        same!(spur_sched_ops, understands, 8);
        same!(spur_sched_ops, plan, 16);
        same!(spur_pick, size, 0);
        same!(spur_pick, job, 4);
        same!(spur_pick, partition, 8);
        same!(spur_pick, slot, 12);
        same!(spur_pick, candidates, 16);
        same!(spur_pick, flags, 32);
        same!(spur_pick, reserved, 36);
        same!(spur_select_ops, size, 0);
        same!(spur_select_ops, reserved, 4);
        same!(spur_select_ops, understands, 8);
        same!(spur_select_ops, begin, 16);
        same!(spur_select_ops, end, 24);
        same!(spur_select_ops, slots, 32);
        same!(spur_select_ops, copy, 40);
        same!(spur_select_ops, take, 48);
        same!(spur_select_ops, give, 56);
        same!(spur_select_ops, pick, 64);
        same!(spur_select_ops, screen, 72);
        same!(spur_select_ops, idle_nodes, 80);
        same!(spur_select_ops, explain, 88);
        same!(spur_state_entry, body, 0);
        same!(spur_state_entry, index, 16);
        same!(spur_state_entry, term, 24);
        same!(spur_state_status, size, 0);
        same!(spur_state_status, role, 4);
        same!(spur_state_status, term, 8);
        same!(spur_state_status, last_index, 16);
        same!(spur_state_status, committed_index, 24);
        same!(spur_state_status, snapshot_index, 32);
        same!(spur_state_status, log_bytes, 40);
        same!(spur_state_status, fsyncs, 48);
        same!(spur_state_status, entries, 56);
        same!(spur_state_status, leader, 64);
        same!(spur_state_status, this, 320);
        same!(spur_state_member, size, 0);
        same!(spur_state_member, role, 4);
        same!(spur_state_member, id, 8);
        same!(spur_state_member, voter, 16);
        same!(spur_state_member, reserved, 20);
        same!(spur_state_member, address, 24);
        same!(spur_state_listener, size, 0);
        same!(spur_state_listener, reserved, 4);
        same!(spur_state_listener, context, 8);
        same!(spur_state_listener, committed, 16);
        same!(spur_state_listener, outcome, 24);
        same!(spur_state_listener, restore, 32);
        same!(spur_state_listener, role, 40);
        same!(spur_state_listener, snapshot_wanted, 48);
        same!(spur_state_listener, failed, 56);
        same!(spur_state_ops, size, 0);
        same!(spur_state_ops, features, 4);
        same!(spur_state_ops, open, 8);
        same!(spur_state_ops, propose, 16);
        same!(spur_state_ops, status, 24);
        same!(spur_state_ops, snapshot, 32);
        same!(spur_state_ops, barrier, 40);
        same!(spur_state_ops, members, 48);
        same!(spur_state_ops, add_member, 56);
        same!(spur_state_ops, remove_member, 64);
        same!(spur_state_ops, transfer, 72);
    }
}

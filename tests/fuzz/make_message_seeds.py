"""make_message_seeds.py CORPUS: writes seeds for fuzz_messages and fuzz_orders into its folders, one for each line of the tables below.

An input of fuzz_orders is told in fuzz_orders.cpp; one of fuzz_messages is a message whose fields are calls: the field's number is the method's (method_number in controller_rig.cpp; one more for an
ordinary user), its bytes are the request. Methods that the table does not name get an empty request."""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROTO = os.path.join(ROOT, "proto")
REGISTER = """register { node { name: "n1" sockets: 2 cores_per_socket: 4 threads_per_core: 2 cpus: 16 memory_mib: 64000 hostname: "h"
  gres { name: "gpu" type: "a100" count: 4 } gpu_places { index: 0 socket: 0 cores: 0 } gpu_links { from: 0 to: 1 kind: 1 weight: 5 } }
  boot_id: "boot-1" serve_addr: "127.0.0.1:6818" version: "1.0.0" held { job_id: 1 attempt: 1 step_id: 4294967291 } }"""
SUBMIT = 'script: "#!/bin/sh\\ntrue\\n" work_dir: "/tmp" uid: 1000 gid: 1000 user_name: "alice" name: "x"'
SEEDS = [  # (name, [(method, request in text format)...])
    ("submit", [("Submit", f"components {{ {SUBMIT} min_nodes: 1 tasks: 2 time_limit_min: 10 gres_per_node: \"gpu:2\" }}")]),
    ("submit_array", [("Submit", f'components {{ {SUBMIT} array: "1-9:2%3" dependency: "afterok:1" }}'), ("ListJobs", "with_steps: true")]),
    ("submit_het", [("Submit", f"components {{ {SUBMIT} }} components {{ {SUBMIT} cpus_per_task: 2 mem_per_cpu_mib: 10 }}")]),
    ("submit_test", [("Submit", f"components {{ {SUBMIT} }} test_only: true")]),
    ("list", [("ListJobs", 'ids: "1" users: "alice" states: "all" with_environment: true with_factors: true'), ("ListJobs", 'ids: "4_[1-5]"')]),
    ("nodes", [("ListNodes", 'names: "n[1-4]"'), ("UpdateNodes", 'names: "n1" changes { key: "state" value: "DRAIN" } changes { key: "reason" value: "r" }')]),
    ("weight", [("UpdateNodes", 'names: "n[1-2]" changes { key: "weight" value: "7" } changes { key: "features" value: "a,b" } changes { key: "gres" value: "gpu:2" }')]),
    ("partitions", [("ListPartitions", "all_partitions: true"), ("UpdatePartition", 'name: "p" create: true changes { key: "nodes" value: "n[1-3]" } changes { key: "maxtime" value: "1-0" }')]),
    ("partition_change", [("UpdatePartition", 'name: "main" changes { key: "state" value: "DRAIN" } changes { key: "allowqos" value: "high" }'), ("UpdatePartition", 'name: "other" remove: true')]),
    ("reservation", [("UpdateReservation", 'create: true name: "r" changes { key: "starttime" value: "now+1hour" } changes { key: "duration" value: "60" } changes { key: "nodes" value: "n4" } changes { key: "users" value: "alice" }'), ("ListReservations", "")]),
    ("reservation_count", [("UpdateReservation", 'create: true changes { key: "starttime" value: "now" } changes { key: "endtime" value: "now+2days" } changes { key: "nodecnt" value: "2" } changes { key: "accounts" value: "physics" } changes { key: "flags" value: "maint,ignore_jobs" }')]),
    ("reservation_change", [("UpdateReservation", 'name: "maint" changes { key: "users" value: "+root" } changes { key: "licenses" value: "matlab:2" }'), ("UpdateReservation", 'name: "maint" remove: true')]),
    ("signal", [("SignalJobs", 'ids: "1" signal: "TERM" full: true'), ("SignalJobs", 'with_filters: true users: "alice" states: "PENDING" node_list: "n1"')]),
    ("cancel", [("SignalJobs", 'ids: "4_[1-20]" ids: "3" ids: "1.0"')]),
    ("update", [("UpdateJobs", 'ids: "3" changes { key: "timelimit" value: "+10:00" } changes { key: "partition" value: "other" } changes { key: "numnodes" value: "1-2" }')]),
    ("update_more", [("UpdateJobs", 'ids: "5" changes { key: "dependency" value: "afterany:2" } changes { key: "nice" value: "-5" } changes { key: "gres" value: "gpu:1" } changes { key: "starttime" value: "now+1" } changes { key: "name" value: "y" }')]),
    ("resize", [("UpdateJobs", 'ids: "1" changes { key: "nodelist" value: "n1" } changes { key: "timelimit" value: "5" }')]),
    ("hold", [("UpdateJobs", 'ids: "3" action: HOLD'), ("UpdateJobs", 'ids: "3" action: RELEASE'), ("UpdateJobs", 'ids: "1" action: REQUEUE'), ("UpdateJobs", 'ids: "2" action: SUSPEND'), ("UpdateJobs", 'ids: "2" action: RESUME'), ("UpdateJobs", 'ids: "3" action: TOP')]),
    ("notify", [("UpdateJobs", 'ids: "1" action: NOTIFY text: "hello"')]),
    ("step", [("CreateStep", 'job_id: 1 tasks: 2 name: "s" gres_per_node: "gpu:1" timeout_ms: 1'), ("FinishStep", "job_id: 1 step_id: 0"), ("ReleaseAllocation", "job_id: 1 exit_status: 256")]),
    ("step_more", [("CreateStep", 'job_id: 1 min_nodes: 2 tasks: 4 cpus_per_task: 1 distribution: "cyclic" overlap: true node_list: "n2" mem_per_cpu_mib: 5 immediate_s: 1'), ("AwaitAllocation", "job_id: 1 timeout_ms: 1")]),
    ("explain", [("Explain", 'id: "3"'), ("Explain", 'id: "4_7" without_alternatives: true'), ("GetScript", "job_id: 1")]),
    ("watch", [("Watch", "jobs: true nodes: true since_version: 1"), ("UpdateJobs", 'ids: "3" action: HOLD')]),
    ("members", [("Membership", ""), ("Membership", 'action: ADD host: "h:1"'), ("Membership", 'action: TRANSFER host: "h:1"')]),
    ("accounts", [("EditAccounts", 'edits { account { name: "chem" description: "d" organization: "o" } } edits { association { account: "chem" shares: 3 parent_account: "physics" limits { grp_jobs: 4 grp_tres { name: "cpu" count: 9 } } } }'), ("ListAccounts", "")]),
    ("users", [("EditAccounts", 'edits { user { name: "bob" default_account: "physics" admin_level: OPERATOR } } edits { association { account: "physics" user: "bob" shares: 1 } }'), ("ListShares", ""), ("ListPriorities", "ids: 3")]),
    ("qos", [("EditAccounts", 'edits { qos { name: "low" priority: 1 usage_factor: 1.5 preempt: "high" preempt_mode: "requeue" limits { max_jobs: 3 } min_tres_per_job { name: "gres/gpu" count: 1 } } } edits { action: REMOVE qos { name: "high" } } edits { action: RESET_USAGE association { account: "physics" } }')]),
    ("agent", [("AgentSession", REGISTER), ("AgentSession", "heartbeat { load: 1.5 free_memory_mib: 5 }"), ("AgentSession", "report { report_id: 1 job_id: 1 attempt: 1 step_id: 4294967291 kind: FINISHED exit_status: 256 node_done: true usage { user_us: 5 } }"),
               ("AgentSession", "report { report_id: 2 job_id: 1 attempt: 1 step_id: 4294967292 kind: EPILOG_DONE }")]),
    ("agent_failed", [("AgentSession", REGISTER), ("AgentSession", 'report { report_id: 3 job_id: 1 attempt: 1 step_id: 4294967291 kind: PROLOG_FAILED error: "e" }'), ("AgentSession", 'result { sequence: 1 error: "no" }')]),
    ("agent_step", [("AgentSession", REGISTER), ("CreateStep", "job_id: 1 tasks: 2 timeout_ms: 1"), ("AgentSession", "report { report_id: 4 job_id: 1 attempt: 1 step_id: 0 kind: FINISHED oom: true }"), ("AgentSession", "report { report_id: 5 job_id: 1 attempt: 1 step_id: 0 }")]),
    ("licenses", [("ListLicenses", 'name: "matlab"'), ("Diagnostics", "reset: true")]),
]

LAUNCH = """job { job_id: 7 attempt: 1 uid: 1000 gid: 1000 user_name: "alice" groups: 5 work_dir: "/tmp" std_out: "%x_%j-%t.out" umask: 18 end_time: 9000
  rlimits { name: "NOFILE" soft: 10 hard: 20 } share { node: "n1" cpus: 2 core_ids: "0-1" memory_mib: 100 gres { name: "gpu" count: 1 index: 0 } }
  shares { node: "n1" cpus: 2 core_ids: "0-1" } shares { node: "n2" cpus: 2 core_ids: "0-1" } signal: "B:USR1@60"
  job { id: 7  spec { name: "x" tasks: 4 cpus_per_task: 1 } node_list: "n[1-2]" } }"""
CREDENTIAL = LAUNCH + """ step { job_id: 7 step_id: 0 name: "s" tasks: 4 } layout { node: "n1" tasks: 0 tasks: 1 } layout { node: "n2" tasks: 2 tasks: 3 }
  issued: 900 expires: 2000 cpus_per_task: 1"""
STEP = """argv: "echo" argv: "hello" environment: "A=b" work_dir: "/tmp" std_out: "out.%J.%t" pty: true window { rows: 5 columns: 6 } cpu_bind: "verbose,map_cpu:0,1"
  gpu_bind: "map_gpu:0,1" gpus_per_task: 1 rlimits { name: "CORE" soft: 1 hard: 2 } het_tasks: 8 het_nodes: 4 het_first_node: 2"""
ORDERS = [  # (name, [(field, kind, message)...])
    ("batch", [(1, "controller", "LaunchBatch", LAUNCH + ' script: "#!/bin/sh" argv: "a" environment: "B=c"')]),
    ("start", [(2, "controller", "StartJob", LAUNCH)]),
    ("step", [(3, "controller", "StepCredential", CREDENTIAL), (4, "agent", "StepLaunch", STEP)]),
    ("step_multi", [(3, "controller", "StepCredential", CREDENTIAL), (4, "agent", "StepLaunch", 'multi_prog: "echo %t" multi_prog: "hostname %o" cpu_bind: "mask_cpu:0x3,0xc"')]),
    ("step_ranks", [(3, "controller", "StepCredential", CREDENTIAL), (4, "agent", "StepLaunch", 'argv: "a" cpu_bind: "rank" std_in: "3" std_err: "none"')]),
    ("strange", [(5, "controller", "SignedCredential", 'body: "abc" signature: "01234567890123456789012345678901"')]),
]


def methods():
    with open(os.path.join(PROTO, "spur", "v1", "controller.proto")) as file:
        return dict(re.findall(r"^\s*rpc (\w+)\((?:stream )?(\w+)\)", file.read(), re.M))


def number(method):
    value = 2166136261
    for byte in f"/spur.v1.Controller/{method}".encode():
        value = (value ^ byte) * 16777619 % (1 << 32)
    return 2 + value % 8191 * 2


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def encoded(kind, text, file="controller"):
    return subprocess.run(["protoc", f"--encode=spur.v1.{kind}", "-I", PROTO, f"spur/v1/{file}.proto"], input=text.encode(), cwd=PROTO,
                          check=True, stdout=subprocess.PIPE).stdout


def field(number, message):
    return varint(number << 3 | 2) + varint(len(message)) + message


def write(folder, name, content):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content)


def main(corpus):
    requests = methods()
    named = {method for _, calls in SEEDS for method, _ in calls}
    rest = [("rest", [(method, "") for method in requests if method not in named])]
    for user in (0, 1):
        for name, calls in SEEDS + rest:
            calls = (field(number(method) + user, encoded(requests[method], text)) for method, text in calls)
            write(os.path.join(corpus, "messages"), name + "_user" * user, b"".join(calls))
    for name, parts in ORDERS:
        write(os.path.join(corpus, "orders"), name, b"".join(field(at, encoded(kind, text, file)) for at, file, kind, text in parts))



if __name__ == "__main__":
    main(sys.argv[1])

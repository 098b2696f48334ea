#!/usr/bin/env python3
"""accounting_ingest.py PLUGIN.so DATABASE [JOBS [BATCH]]: how many finished jobs a second an accounting plugin stores, and how long everyday questions take.

The plugin is called through its C interface, by ctypes; only the time inside its ops is counted. A finished job is one row for it and one for its batch step, which is what
a busy controller's batches come to. DATABASE is what the plugin's option `database` says: a path for sqlite, an address for postgres (history.py FOLDER starts a server).
"""
import ctypes as c
import statistics
import sys
import time

U32, U64, I64, P, S = c.c_uint32, c.c_uint64, c.c_int64, c.c_void_p, c.c_char_p
INT, TEXT, TRES = 1, 3, 5
JOB, STEP = 1, 2
EQUAL, IN, AT_LEAST, NULL = 1, 2, 3, 10


def struct(name, *fields):
    return type(name, (c.Structure,), {"_fields_": list(fields)})


Span = struct("Span", ("data", P), ("count", U32), ("stride", U32))
Str = struct("Str", ("data", S), ("length", U32), ("reserved", U32))
Error = struct("Error", ("size", U32), ("code", c.c_int32), ("text", c.c_char * 248))
Desc = struct("Desc", ("size", U32), ("reserved", U32), ("type", S), ("version", S), ("vendor", S), ("summary", S), ("options", P), ("option_count", U32), ("option_stride", U32),
              ("interfaces", P), ("create", P), ("destroy", P), ("query", P))
Module = struct("Module", ("size", U32), ("abi", U32), ("built_with", S), ("plugins", c.POINTER(c.POINTER(Desc))))
Setting = struct("Setting", ("key", S), ("kind", U32), ("is_default", U32), ("integer", I64), ("real", c.c_double), ("text", S), ("list", P), ("list_count", U32), ("line", U32))
Config = struct("Config", ("size", U32), ("reserved", U32), ("values", Span), ("source", S))
SERVICE = c.CFUNCTYPE(P, P, S)
Host = struct("Host", ("size", U32), ("reserved", U32), ("program", S), ("version", S), ("service", SERVICE), ("context", P))
STOPPED = c.CFUNCTYPE(U32, P)
Stop = struct("Stop", ("size", U32), ("fd", c.c_int32), ("deadline_ns", I64), ("context", P), ("stopped", STOPPED))
Tres = struct("Tres", ("name", Str), ("count", U64))
Field = struct("Field", ("name", S), ("kind", U32), ("reserved", U32), ("integer", I64), ("real", c.c_double), ("text", Str), ("tres", Span))
Row = struct("Row", ("table", U32), ("removed", U32), ("sequence", U64), ("fields", Span))
Batch = struct("Batch", ("size", U32), ("reserved", U32), ("cluster", Str), ("stream", Str), ("first", U64), ("last", U64), ("rows", Span))
POISON = c.CFUNCTYPE(None, P, U32, Str)
Report = struct("Report", ("size", U32), ("reserved", U32), ("context", P), ("poison", POISON))
STEPPED = c.CFUNCTYPE(None, P, U32, U32, Str)
Progress = struct("Progress", ("size", U32), ("reserved", U32), ("context", P), ("step", STEPPED))
Condition = struct("Condition", ("name", S), ("test", U32), ("negate", U32), ("group", U32), ("reserved", U32), ("values", Span))
Query = struct("Query", ("size", U32), ("table", U32), ("cluster", Str), ("conditions", Span), ("wanted", Span), ("groups", Span), ("sums", Span), ("order_by", S), ("after", Str),
               ("limit", U32), ("with_removed", U32))
ROW = c.CFUNCTYPE(c.c_int32, P, P)
MORE = c.CFUNCTYPE(c.c_int32, P, Str)
Sink = struct("Sink", ("size", U32), ("reserved", U32), ("context", P), ("row", ROW), ("more", MORE))
Ops = struct("Ops", ("size", U32), ("features", U32), ("schema", P), ("migrate", P), ("store", P), ("stored_up_to", P), ("query", P), ("purge", P))
OP = {"migrate": c.CFUNCTYPE(c.c_int32, P, P, P, P), "store": c.CFUNCTYPE(c.c_int32, P, P, P, P, P), "query": c.CFUNCTYPE(c.c_int32, P, P, P, P, P)}


def text(value):
    return Str(value.encode(), len(value.encode()), 0)


def span(items, kind):
    array = (kind * len(items))(*items)
    return Span(c.cast(array, P), len(items), c.sizeof(kind)), array


class Store:
    def __init__(self, path, database):
        self.library = c.CDLL(path)
        self.library.spur_module_v1.restype = c.POINTER(Module)
        desc = self.library.spur_module_v1().contents.plugins[0].contents
        settings = [Setting(b"database", 1, 0, 0, 0, database.encode(), None, 0, 0), Setting(b"connections", 2, 1, 4, 0, b"", None, 0, 0)][: desc.option_count]
        values, self.kept = span(settings, Setting)
        self.host = Host(c.sizeof(Host), 0, b"bench", b"1", SERVICE(lambda *_: None), None)
        self.error = Error(c.sizeof(Error))
        self.self, self.cpu = P(), 0.0
        create = c.CFUNCTYPE(c.c_int32, P, P, P, P)(desc.create)
        config = Config(c.sizeof(Config), 0, values, b"")
        self.check(create(c.addressof(self.host), c.addressof(config), c.addressof(self.self), c.addressof(self.error)))
        self.ops = c.cast(c.CFUNCTYPE(P, P, S)(desc.query)(self.self, b"spur.accounting/1"), c.POINTER(Ops)).contents
        self.stop = Stop(c.sizeof(Stop), -1, 2**63 - 1, None, STOPPED(lambda _: 0))
        progress = Progress(c.sizeof(Progress), 0, None, STEPPED(lambda *_: None))
        self.call("migrate", progress)

    def check(self, status):
        if status != 0:
            sys.exit(f"the plugin answered {status}: {self.error.text.decode()}")

    def call(self, op, *structs):
        function = OP[op](getattr(self.ops, op))
        begin, spent = time.perf_counter(), time.process_time()
        status = function(self.self, *(c.addressof(one) for one in structs), c.addressof(self.stop), c.addressof(self.error))
        took = time.perf_counter() - begin
        self.cpu += time.process_time() - spent
        self.check(status)
        return took

    def store(self, rows, first, last):
        listed, kept = span(rows, Row)
        report = Report(c.sizeof(Report), 0, None, POISON(lambda *_: None))
        return self.call("store", Batch(c.sizeof(Batch), 0, text("bench"), text("stream"), first, last, listed), report)

    def ask(self, conditions, limit=0):
        """Seconds, and how many rows came."""
        kept, listed = [], []
        for name, test, group, values in conditions:
            fields, array = span([Field(b"", TEXT if isinstance(v, str) else INT, 0, 0 if isinstance(v, str) else v, 0, text(v) if isinstance(v, str) else Str()) for v in values], Field)
            kept.append(array)
            listed.append(Condition(name.encode(), test, 0, group, 0, fields))
        listed, array = span(listed, Condition)
        found = [0]

        def row(*_):
            found[0] += 1
            return 0

        sink = Sink(c.sizeof(Sink), 0, None, ROW(row), MORE(lambda *_: 0))
        query = Query(size=c.sizeof(Query), table=JOB, cluster=text("bench"), conditions=listed, limit=limit)
        return self.call("query", query, sink), found[0]


def field(name, value, kept):
    if isinstance(value, dict):
        tres, array = span([Tres(text(k), v) for k, v in value.items()], Tres)
        kept.append(array)
        return Field(name.encode(), TRES, 0, 0, 0, Str(), tres)
    return Field(name.encode(), TEXT, 0, 0, 0, text(value)) if isinstance(value, str) else Field(name.encode(), INT, 0, value)


def job_rows(job, start, kept):
    tres = {"cpu": 4, "mem": 8192, "node": 1, "billing": 4}
    submit = start + job // 50  # fifty jobs a second
    key = {"job_id": job, "submit_time": submit, "attempt": 1}
    whole = {**key, "name": "simulate", "user_name": f"user{job % 200}", "uid": 1000 + job % 200, "group_name": "users", "gid": 100, "account": f"account{job % 20}", "partition": "main",
             "qos": "normal", "reservation": "", "wckey": "", "association_id": job % 200 + 1, "state": "COMPLETED", "flags": 0, "reason": "None", "exit_code": 0, "derived_exit_code": 0, "priority": 1000,
             "restarts": 0, "eligible_time": submit, "start_time": submit + 5, "end_time": submit + 65, "suspended_s": 0, "time_limit_min": 60, "node_count": 1, "cpus": 4, "tasks": 1,
             "nodes": f"n{job % 1000}", "tres_requested": tres, "tres_allocated": tres, "constraints": "", "work_dir": "/home/someone/project", "submit_line": "sbatch --array=1-100 run.sh",
             "comment": "", "admin_comment": "", "system_comment": "", "mcs_label": "", "container": "", "mem_per_node_mib": 8192, "kind": 0}
    step = {**key, "step_id": 4294967291, "name": "batch", "state": "COMPLETED", "exit_code": 0, "start_time": submit + 5, "end_time": submit + 65, "tasks": 1, "cpus": 4, "node_count": 1,
            "nodes": f"n{job % 1000}", "tres_allocated": tres, "layout": "", "user_us": 59_000_000, "system_us": 100_000, "max_rss_bytes": 1 << 30, "read_bytes": 1 << 20, "write_bytes": 1 << 20}
    rows = []
    for table, fields in ((JOB, whole), (STEP, step)):
        listed, array = span([field(name, value, kept) for name, value in fields.items()], Field)
        kept.append(array)
        rows.append(Row(table, 0, job * 2 + (table == STEP) - 1, listed))
    return rows


def main(plugin, database, jobs=20000, batch=1000):
    store, took, start = Store(plugin, database), 0.0, 1_790_000_000
    for first in range(1, int(jobs) + 1, int(batch)):
        kept, last = [], min(first + int(batch) - 1, int(jobs))
        rows = [row for job in range(first, last + 1) for row in job_rows(job, start, kept)]
        took += store.store(rows, first * 2 - 1, last * 2)
    print(f"{plugin.rsplit('/', 1)[-1]}: {jobs} finished jobs in {took:.2f} s, {int(jobs) / took:.0f} jobs/s, batches of {batch}; {store.cpu / int(jobs) * 1e6:.0f} us of CPU a job in this process")
    end = start + int(jobs) // 50 + 65
    for what, conditions in {
        "one job": [("job_id", EQUAL, 0, [int(jobs) // 2])],
        "a user's last day": [("user_name", EQUAL, 0, ["user7"]), ("end_time", AT_LEAST, 1, [end - 86400]), ("end_time", NULL, 1, [])],
    }.items():
        answers = [store.ask(conditions) for _ in range(11)]
        print(f"  {what}: {statistics.median(seconds for seconds, _ in answers) * 1000:.2f} ms, {answers[0][1]} rows")


if __name__ == "__main__":
    main(*sys.argv[1:])

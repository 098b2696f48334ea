"""next_headers.py INCLUDE OUT: the headers as a later release may have them: longer structs, one more op, nothing moved."""

import pathlib
import re
import sys

APPENDED = {
    "spur_host": "const char *greeting;",
    "spur_plugin_desc": "const char *homepage;",
    "spur_config": "uint64_t generation;",
    "spur_cluster_view": "uint64_t mood;",
    "spur_job_view": "uint64_t carbon_grams;",
    "spur_priority_ops": "spur_status (*forecast)(spur_plugin *self, int64_t at);",
}


def main(include, out):
    target = pathlib.Path(out) / "spur" / "plugin"
    target.mkdir(parents=True, exist_ok=True)
    missing = set(APPENDED)
    for path in (pathlib.Path(include) / "spur" / "plugin").glob("*.h"):
        text = path.read_text()
        for struct, member in APPENDED.items():
            text, count = re.subn(rf"^\}} {struct};", f"    /* ---- 1.1 ---- */\n    {member}\n}} {struct};", text, flags=re.M)
            if count:
                missing.discard(struct)
        (target / path.name).write_text(text)
    if missing:
        sys.exit(f"not found in the headers: {', '.join(missing)}")


if __name__ == "__main__":
    main(*sys.argv[1:])

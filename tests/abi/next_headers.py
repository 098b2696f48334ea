"""next_headers.py INCLUDE OUT: the headers as a later release may have them: every struct that may grow is longer, every table of ops
has one more op, and nothing has moved."""

import pathlib
import re
import sys

INCLUDE, OUT = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(INCLUDE.parent / "abi"))
sys.dont_write_bytecode = True
import headers  # noqa: E402

NAMED = {  # what next.c looks at
    "spur_host": "const char *greeting;",
    "spur_plugin_desc": "const char *homepage;",
    "spur_config": "uint64_t generation;",
    "spur_cluster_view": "uint64_t mood;",
    "spur_job_view": "uint64_t carbon_grams;",
    "spur_priority_ops": "spur_status (*forecast)(spur_plugin *self, int64_t at);",
}


def appended_to(name):
    if name in NAMED:
        return NAMED[name]
    return "void (*appended_op)(spur_plugin *self);" if name.endswith("_ops") else "uint64_t appended[4];"


def main():
    grows = {struct.name for struct in headers.read_headers(INCLUDE).structs if struct.members} - headers.NEVER_GROW
    missing = set(grows)
    for path in (INCLUDE / "spur").rglob("*.h*"):
        text = path.read_text()
        for struct in grows:
            text, count = re.subn(
                rf"^\}} {struct};", f"    /* ---- 1.1 ---- */\n    {appended_to(struct)}\n}} {struct};", text, flags=re.M
            )
            if count:
                missing.discard(struct)
        text = re.sub(r'(#define SPUR_HEADERS_VERSION) ".*"', r'\1 "1.9"', text)
        target = OUT / path.relative_to(INCLUDE)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    if missing:
        sys.exit(f"not found in the headers: {', '.join(missing)}")


if __name__ == "__main__":
    main()

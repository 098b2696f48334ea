"""prefix_layout.py PREFIX: `cmake --install` lays out a normal prefix, and it can be used from there."""

import pathlib
import subprocess
import sys

WANTED = [
    "bin/spur",
    "bin/spur-plugin-check",
    "include/spur/plugin/abi.h",
    "include/spur/plugin/plugin.hpp",
    "include/spur/plugin/plugin.h",
    "lib/cmake/SpurPlugin/SpurPluginConfig.cmake",
    "lib/cmake/SpurPlugin/SpurPlugin.cmake",
    "lib/cmake/SpurPlugin/plugin.map",
    "lib/pkgconfig/spur-plugin.pc",
    "lib/spur/sched_fifo.so",
    "share/spur/templates/c/common/CMakeLists.txt",
    "share/spur/templates/rust/common/spur.rs",
    "share/man/man1/spur-plugin-check.1",
]


def main(prefix):
    prefix = pathlib.Path(prefix)
    missing = [path for path in WANTED if not (prefix / path).exists()]
    if missing:
        sys.exit(f"missing under {prefix}: {', '.join(missing)}")
    listed = subprocess.run([prefix / "bin/spur", "plugin", "list"], check=True, stdout=subprocess.PIPE, text=True).stdout
    print(listed)
    if str(prefix) not in listed:
        sys.exit("the installed `spur plugin list` does not find the installed plugins")


if __name__ == "__main__":
    main(*sys.argv[1:])

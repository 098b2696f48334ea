"""one_symbol.py PLUGIN.so: `nm -D --defined-only` prints exactly one symbol, spur_module_v1."""

import subprocess
import sys


def main(plugin):
    listed = subprocess.run(["nm", "-D", "--defined-only", plugin], check=True, stdout=subprocess.PIPE, text=True)
    symbols = [line.split()[-1].split("@")[0] for line in listed.stdout.splitlines()]
    if symbols != ["spur_module_v1"]:
        sys.exit(f"{plugin} defines {', '.join(symbols) or 'nothing'}; it should define spur_module_v1 alone")


if __name__ == "__main__":
    main(*sys.argv[1:])

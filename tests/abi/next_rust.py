"""next_rust.py ABI TEMPLATES NEXT CHECKER: the Rust templates, built with the binding of headers in which every struct has grown, pass
the checker of today: nothing is written past what a host of today has, nothing is read that it does not have."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ABI, TEMPLATES, NEXT, CHECKER = map(pathlib.Path, sys.argv[1:5])
AXES = ["state", "sched", "select", "priority", "accounting", "auth", "net", "gpu", "cgroup", "job_submit"]


def main():
    if not shutil.which("rustc"):
        print("skipped: rustc is not installed (Debian: apt install rustc)")
        return 77
    binding = subprocess.run([ABI / "rust", NEXT], check=True, stdout=subprocess.PIPE, text=True).stdout
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "devices").mkdir()
        (scratch / "devices" / "accel0").touch()
        for axis in AXES:
            folder = scratch / axis
            folder.mkdir()
            common = TEMPLATES / "rust" / "common"
            for path in [*(TEMPLATES / "rust" / axis).glob("*.rs"), common / "sugar.rs", common / "services.rs"]:
                text = path.read_text().replace("@TYPE@", f"{axis}/next").replace("@NAME@", "next")
                (folder / path.name).write_text(text)
            (folder / "spur.rs").write_text(binding)
            plugin = folder / f"{axis}_next.so"
            print(plugin.name, flush=True)
            flags = ["--edition", "2021", "--crate-name", plugin.stem, "--crate-type", "cdylib", "-O"]
            subprocess.run(["rustc", *flags, "-o", plugin, folder / "plugin.rs"], check=True)
            more = ["--set", f"directory={scratch / 'devices'}"] if axis == "gpu" else []
            subprocess.run([CHECKER, "--only-failed", "--rounds", "10", *more, plugin], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""templates.py PREFIX c|cpp|rust: `spur plugin new` of every axis, built outside the tree against PREFIX, passes the checker."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

AXES = ["state", "sched", "select", "priority", "accounting", "auth", "net", "gpu", "cgroup", "job_submit"]
SKIPPED = 77


def run(*command, **more):
    print("$", " ".join(str(word) for word in command), flush=True)
    return subprocess.run(command, check=True, **more)


def build(prefix, language, folder, axis):
    if language == "rust":
        run("make", "-s", "-C", folder, f"PREFIX={prefix}", "RUSTFLAGS=-O -D warnings")
    else:
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        warnings = f"-DCMAKE_{'CXX' if language == 'cpp' else 'C'}_FLAGS=-Werror"
        run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}", warnings, *generator,
            stdout=subprocess.DEVNULL)  # fmt: skip
        run("cmake", "--build", folder / "build", stdout=subprocess.DEVNULL)
    return folder / "build" / f"{axis}_sample.so"


def settings(axis, scratch):
    """What the defaults cannot know on a test machine."""
    if axis == "gpu":
        devices = scratch / "devices"
        devices.mkdir()
        for number in (0, 1, 3):
            (devices / f"accel{number}").touch()
        return ["--set", f"directory={devices}"]
    if axis == "cgroup":
        for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
            if (pathlib.Path(root) / "cgroup.procs").exists() and os.access(root, os.W_OK):
                return ["--set", f"root={root}/spur-template-test-{os.getpid()}"]
    return []


def remove_cgroup(arguments):
    for argument in arguments:
        if argument.startswith("root=") and os.path.isdir(argument[5:]):
            os.rmdir(argument[5:])


def own_check_target(prefix, language, folder):
    """The `check` of the generated build files themselves."""
    if language == "rust":
        run("make", "-s", "-C", folder, f"PREFIX={prefix}", "RUSTFLAGS=-O -D warnings", "check")
    else:
        run("cmake", "--build", folder / "build", "--target", "check")


def build_with_cargo(prefix, folder, plugin):
    plugin.unlink()
    run("make", "-s", "-C", folder, f"PREFIX={prefix}", "cargo")
    run(prefix / "bin/spur", "plugin", "check", "--only-failed", plugin)


def unguarded(source):
    """Functions that a host calls and in which a panic would not stop. One that calls nothing cannot panic; attach() is called where even
    catching one is not allowed."""
    stops = re.compile(r"\b(guard|caught|quietly|with|take_back|spur_plugin!)\b")
    found = []
    for match in re.finditer(r'^(?: *)unsafe extern "C" fn (\w+)\([^{]*?\)[^{;]*\{\n(.*?)^\}', source, re.M | re.S):
        name, body = match.groups()
        if name != "attach" and not stops.search(body) and re.search(r"[(\[]", body):
            found.append(name)
    return found


def main(prefix, language):
    prefix = pathlib.Path(prefix)
    if language == "rust" and not shutil.which("rustc"):
        print("skipped: rustc is not installed (Debian: apt install rustc)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for axis in AXES:
            folder = scratch / axis
            run(prefix / "bin/spur", "plugin", "new", f"{axis}/sample", "--lang", language, folder)
            for source in folder.glob("*.rs") if language == "rust" else []:
                if names := unguarded(source.read_text()):
                    sys.exit(f"{axis}/{source.name}: a panic would leave {', '.join(names)}")
            plugin = build(prefix, language, folder, axis)
            arguments = settings(axis, scratch)
            try:
                run(prefix / "bin/spur", "plugin", "check", "--only-failed", *arguments, plugin)
            finally:
                remove_cgroup(arguments)
            if axis == "priority":
                own_check_target(prefix, language, folder)
            if axis == "priority" and language == "rust" and shutil.which("cargo"):
                build_with_cargo(prefix, folder, plugin)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except subprocess.CalledProcessError as failed:
        sys.exit(f"failed with {failed.returncode}: {' '.join(str(word) for word in failed.cmd)}")

"""check_plugin.py CHECKER PLUGIN.so SETTINGS: the plugin keeps every promise of its interface.

SETTINGS is a file (it may be missing) of what the plugin needs to be tried, a line each; %SCRATCH% stands for an empty directory, %TESTS% for the
folder of all tests:
    set KEY=VALUE          an option
    file PATH CONTENT      a file that only its owner can read
    start PATH COMMAND...  a program that is ready when PATH is there; where it is not installed it is done without
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time


def start(path, command):
    if not shutil.which(command[0]):
        print(f"{command[0]} is not installed", flush=True)
        return []
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while not pathlib.Path(path).exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    return [process]


def main(checker, plugin, settings):
    arguments, processes = [], []
    with tempfile.TemporaryDirectory() as scratch:
        lines = pathlib.Path(settings).read_text().splitlines() if pathlib.Path(settings).exists() else []
        for line in lines:
            word, _, rest = line.replace("%SCRATCH%", scratch).replace("%TESTS%", str(pathlib.Path(__file__).resolve().parent.parent)).partition(" ")
            if word == "set":
                arguments += ["--set", rest]
            elif word == "file":
                path, _, content = rest.partition(" ")
                pathlib.Path(path).touch(mode=0o600)
                pathlib.Path(path).write_text(content)
            elif word == "start":
                path, *command = rest.split()
                processes += start(path, command)
        try:
            return subprocess.run([checker, *arguments, plugin]).returncode
        finally:
            for process in processes:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

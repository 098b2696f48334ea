"""faults.py CHECKER FOLDER FAULTS.txt: each plugin with a known fault fails the case that is about it, in the words expected."""

import json
import pathlib
import subprocess
import sys


def complaint(checker, plugin, case, words):
    run = subprocess.run([checker, "--json", plugin], stdout=subprocess.PIPE, text=True)
    failed = {line["case"]: line["text"] for line in json.loads(run.stdout)["cases"] if line["result"] == "failed"}
    if run.returncode != 1:
        return f"the checker left with {run.returncode}, not 1"
    if case not in failed:
        return f"{case} did not fail; failed were {failed}"
    if words not in failed[case]:
        return f'{case} failed with "{failed[case]}", not "{words}"'
    return None


def main(checker, folder, faults):
    wrong = []
    for line in pathlib.Path(faults).read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        fault, case, words = line.split(": ", 2)
        why = complaint(checker, pathlib.Path(folder) / f"{fault}.so", case, words)
        print(f"{fault}: {why or 'found by ' + case}", flush=True)
        if why:
            wrong.append(fault)
    if wrong:
        sys.exit(f"not found as expected: {', '.join(wrong)}")


if __name__ == "__main__":
    main(*sys.argv[1:])

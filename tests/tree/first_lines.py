"""first_lines.py TREE: every source file and every folder's CMakeLists.txt opens with a line on what it is for."""

import pathlib
import sys

FOLDERS = ("core", "daemons", "cli", "plugins", "plugin-api", "proto")
COMMENTS = {".cpp": ("// ", "/* "), ".hpp": ("// ", "/* "), ".c": ("// ", "/* "), ".h": ("// ", "/* "), ".proto": ("// ",), ".txt": ("# ",)}


def is_meant(path):
    return path.suffix in COMMENTS and (path.suffix != ".txt" or path.name == "CMakeLists.txt")


def main(tree):
    files = [path for folder in FOLDERS for path in sorted((tree / folder).rglob("*")) if path.is_file() and is_meant(path)]
    assert len(files) > 500, f"only {len(files)} files below {tree}"
    silent = [path for path in files if not path.read_text().startswith(COMMENTS[path.suffix])]
    for path in silent:
        print(f"{path.relative_to(tree)}: the first line must say what this file is for")
    return 1 if silent else 0


sys.exit(main(pathlib.Path(sys.argv[1])))

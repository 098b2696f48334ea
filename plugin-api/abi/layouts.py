"""What abi/layout prints, read back: sizes, offsets, types and constants, by name."""

import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import headers  # noqa: E402


@dataclass
class Layout:
    files: list
    structs: dict = field(default_factory=dict)  # name: ({member: (offset, size, type)}, size)
    constants: dict = field(default_factory=dict)  # name: value
    promises: dict = field(default_factory=dict)  # header: hash of its comments


def read(include):
    found = Layout(headers.read_headers(include).files)
    members = None
    table = subprocess.run([HERE / "layout", include], check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in table.splitlines():
        head = re.fullmatch(r"struct (\w+): (\d+) bytes, .*", line)
        member = re.fullmatch(r" *(\d+) +(\d+)  (\w+): (.*)", line)
        constant = re.fullmatch(r"(SPUR_\w+) = (.*)", line)
        promise = re.fullmatch(r"contract (\S+) = (\w+)", line)
        if head:
            members = {}
            found.structs[head.group(1)] = (members, int(head.group(2)))
        elif member:
            members[member.group(3)] = (member.group(1), member.group(2), member.group(4))
        elif constant:
            found.constants[constant.group(1)] = constant.group(2)
        elif promise:
            found.promises[promise.group(1)] = promise.group(2)
    return found

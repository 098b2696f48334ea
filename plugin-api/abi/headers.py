"""Reads the public C headers: structs with their members, constants and function types, in the order of declaration.

The headers are written in a plain style (one typedef a struct, no conditionals inside, no bit fields), so a few regular
expressions are enough. What they do not understand is an error, not a gap.
"""

import pathlib
import re
from dataclasses import dataclass, field

# Sugar for plugins written in C: nothing in it crosses the boundary.
SUGAR = {"plugin.h", "wait.h"}
ORDER = ["abi.h", "module.h", "log.h", "clock.h", "config.h", "executor.h", "notify.h", "metrics.h", "store.h", "view.h"]


NEVER_GROW = {  # passed as plain arrays, or inside other structs: see the headers
    "spur_span", "spur_str", "spur_bytes", "spur_bits", "spur_state_entry", "spur_node_share", "spur_gres_share", "spur_row",
}  # fmt: skip


@dataclass
class Member:
    name: str
    type: str  # as C writes it, without the name: "const char *", "uint8_t", "spur_status (*)(spur_plugin *self)"
    array: str = ""  # "248" for char text[248]
    result: str = ""  # of a function pointer
    parameters: list = field(default_factory=list)  # [(type, name)] of a function pointer

    @property
    def is_function(self):
        return bool(self.result)


@dataclass
class Struct:
    name: str
    members: list  # empty: opaque


@dataclass
class Constant:
    name: str
    text: str  # as C writes it


@dataclass
class FunctionType:
    name: str
    result: str
    parameters: list


@dataclass
class Headers:
    files: list
    structs: list
    constants: list
    functions: list
    aliases: list  # [(name, type)]: spur_status
    contracts: dict = field(default_factory=dict)  # file: what its comments say, without line breaks


class Misunderstood(Exception):
    pass


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def split_declarator(text):
    """'const char *name' -> ('const char *', 'name')"""
    match = re.fullmatch(r"(.*?[\s*])(\w+)", squeeze(text))
    if not match:
        raise Misunderstood(f"declaration: {text}")
    return match.group(1).strip(), match.group(2)


def split_at_depth_0(text, separator):
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "({") - (c in ")}")
        if c == separator and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return parts + [part]


FUNCTION = re.compile(r"^(.*?)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)$", re.S)


def read_parameter(text):
    text = squeeze(text).replace("struct ", "")
    function = FUNCTION.match(text)
    if function:
        inner = ", ".join(kind for kind, _ in read_parameters(function.group(3)))
        return f"{function.group(1).strip()} (*)({inner})", function.group(2)
    return split_declarator(text)


def read_parameters(text):
    if squeeze(text) in ("", "void"):
        return []
    return [read_parameter(part) for part in split_at_depth_0(text, ",")]


def read_members(body):
    members = []
    for statement in split_at_depth_0(body, ";"):
        statement = squeeze(statement).replace("struct ", "")
        if not statement:
            continue
        function = FUNCTION.match(statement)
        if function:
            result, name, parameters = function.group(1).strip(), function.group(2), read_parameters(function.group(3))
            shown = ", ".join(f"{kind} {word}".replace("* ", "*") for kind, word in parameters)
            members.append(Member(name, f"{result} (*)({shown})", "", result, parameters))
            continue
        declarators = statement.split(",")
        base, first = split_declarator(re.sub(r"\[\w+\]", "", declarators[0]))
        plain = base.rstrip("* ")
        for number, declarator in enumerate(declarators):
            array = re.search(r"\[(\w+)\]", declarator)
            word = re.sub(r"\[\w+\]", "", declarator)
            kind, name = (base, first) if number == 0 else split_declarator(plain + " " + word)
            members.append(Member(name, kind, array.group(1) if array else ""))
    return members


def read_headers(include):
    directory = pathlib.Path(include) / "spur" / "plugin"
    found = sorted(str(path.relative_to(directory)) for path in directory.rglob("*.h") if path.name not in SUGAR)
    files = [name for name in ORDER if name in found] + [name for name in found if name not in ORDER]
    headers = Headers(files, [], [], [], [])
    for name in files:
        text = (directory / name).read_text()
        headers.contracts[name] = squeeze(" ".join(re.findall(r"/\*(.*?)\*/", text, flags=re.S)).replace("*", " "))
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        text = re.sub(r"\\\n", " ", text)
        for match in re.finditer(r"^#define (SPUR_\w+) +(.+)$", text, re.M):
            if match.group(1) != "SPUR_EXPORT":
                headers.constants.append(Constant(match.group(1), squeeze(match.group(2))))
        text = re.sub(r"^#.*$", "", text, flags=re.M)
        text = re.sub(r'extern "C" \{', "", text)
        text = re.sub(r"static inline [^{]*\{.*?^\}", "", text, flags=re.S | re.M)
        read_typedefs(text, headers)
    return headers


def read_typedefs(text, headers):
    for statement in split_at_depth_0(text, ";"):
        statement = squeeze(statement).lstrip("} ")
        if not statement.startswith("typedef "):
            if statement and not statement.startswith("SPUR_EXPORT"):
                raise Misunderstood(statement)
            continue
        statement = statement[len("typedef ") :]
        whole = re.fullmatch(r"struct (\w+) \{(.*)\} (\w+)", statement)
        opaque = re.fullmatch(r"struct (\w+) (\w+)", statement)
        function = FUNCTION.match(statement)
        if whole:
            headers.structs.append(Struct(whole.group(3), read_members(whole.group(2))))
        elif opaque:
            headers.structs.append(Struct(opaque.group(2), []))
        elif function:
            headers.functions.append(
                FunctionType(function.group(2), function.group(1).strip(), read_parameters(function.group(3)))
            )
        else:
            kind, name = split_declarator(statement)
            headers.aliases.append((name, kind))

"""What ``documents.d.ts`` declares, held against documents."""

import re

from tfprof.ui.web.scripts import static_text

TEXT = re.sub(r"/\*\*.*?\*/", "", static_text("documents.d.ts"), flags=re.DOTALL)
TEXT = re.sub(r"\n +\| ", " | ", TEXT).replace(": | ", ": ")  # long unions are on many lines
DECLARED = {
    name: (parent, dict(re.findall(r"^  (\w+\??): (.*?);$", body, re.MULTILINE)))
    for name, parent, body in re.findall(
        r"^(?:export )?interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}",
        TEXT,
        re.MULTILINE | re.DOTALL,
    )
}
KINDS = {
    keys["kind"].strip('"'): name for name, (_, keys) in DECLARED.items() if name.endswith("Block")
}
PLAIN = {"string": str, "number": (int, float), "boolean": bool, "Params": dict}


def keys_of(name):
    parent, own = DECLARED[name]
    return {**(keys_of(parent) if parent else {}), **own}


def troubles(value, type_, where):
    """Where a value is not of a type: places, keys and all."""
    if type_ == "any":
        return []
    if type_ == "Block":
        return troubles(value, KINDS[value["kind"]], where)
    if type_ in DECLARED and isinstance(value, dict):
        keys = keys_of(type_)
        known = {key.rstrip("?") for key in keys}
        found = [f"{where}.{key} is not declared" for key in value if key not in known]
        for key, inner in keys.items():
            if key.rstrip("?") in value:
                found += troubles(value[key.rstrip("?")], inner, f"{where}.{key.rstrip('?')}")
            elif not key.endswith("?"):
                found.append(f"{where}.{key} is missing")
        return found
    if type_.endswith("[]") and re.fullmatch(r"\w+\[\]|\(.*\)\[\]", type_):
        inner = type_[:-2].removeprefix("(").removesuffix(")")
        return [each for item in value for each in troubles(item, inner, f"{where}[]")]
    if " | " in type_ and "{" not in type_:
        every = [troubles(value, one, where) for one in type_.split(" | ")]
        return [] if [] in every else [f"{where} is {value!r}, not {type_}"]
    if type_ in PLAIN:
        is_fit = isinstance(value, PLAIN[type_]) and isinstance(value, bool) == (type_ == "boolean")
    elif type_.startswith('"'):
        is_fit = value == type_.strip('"')
    elif type_ == "null":
        is_fit = value is None
    elif type_.startswith("Column"):
        packed = ({"type", "data"}, {"texts", "at"})
        is_fit = isinstance(value, list) or (isinstance(value, dict) and value.keys() in packed)
    else:  # what is declared in place
        is_fit = isinstance(value, (dict, list, tuple)) or (value is None and "| null" in type_)
        is_fit &= type_ not in DECLARED
    return [] if is_fit else [f"{where} is {value!r}, not {type_}"]

"""Values as TOML writes them, in one line each, so that a comment can stand above every table."""

import re
from collections.abc import Mapping
from typing import Any

PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """A value in TOML: texts, numbers, true or false, and lists and tables of them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        told = (f"{toml_name(name)} = {toml_value(one)}" for name, one in value.items())
        return "{" + ", ".join(told) + "}"
    if isinstance(value, str):
        plain = value.replace("\\", "\\\\").replace('"', '\\"')
        escaped = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in plain)
        return f'"{escaped}"'
    return repr(value)


def toml_name(name: str) -> str:
    """A name before the equals sign."""
    return name if PLAIN_NAME.fullmatch(name) else toml_value(name)

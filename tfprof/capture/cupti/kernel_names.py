"""Names of kernels as their source spells them, and of calls without the version of their ABI."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache

_VERSION = re.compile(r"_v\d{4,}(?=$|_)")


def plain_call(name: str) -> str:
    """``cudaLaunchKernel`` for ``cudaLaunchKernel_v7000``; ``_v2`` belongs to a name."""
    return _VERSION.sub("", name)


def demangled(name: str) -> str:
    """The name of a kernel as its source spells it; as it is, if it is not mangled."""
    if not name.startswith("_Z"):  # "f" would become "float"
        return name
    demangle = _demangler()
    return name if demangle is None else demangle(name)


@cache
def _demangler() -> Callable[[str], str] | None:
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError, TypeError):
        return None
    demangle.restype = ctypes.c_void_p
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    free.argtypes = [ctypes.c_void_p]

    def plain(name: str) -> str:
        status = ctypes.c_int(0)
        text = demangle(name.encode("utf-8", "replace"), None, None, ctypes.addressof(status))
        if not text:
            return name
        try:
            return ctypes.string_at(text).decode("utf-8", "replace")
        finally:
            free(text)

    return plain

"""Message classes of all formats tfprof reads or writes, as attributes of this module.

    >>> from tfprof.core.wire import messages
    >>> messages.GraphDef(node=[messages.NodeDef(name="a")]).node[0].name
    'a'

Names are flat: ``messages.GraphNodeProto`` is ``tensorflow.tfprof.GraphNodeProto``,
``messages.Profile`` is ``tensorflow.tfprof.pprof.Profile``. The classes come from the
descriptor set beside this file, in a pool of their own, and are made at first use;
``messages.pyi`` describes them to type checkers.
"""

from __future__ import annotations

from typing import Any

from tfprof.core.wire.parsing import parse
from tfprof.core.wire.pool import message_class, message_names, private_pool, top_level

__all__ = ["message_class", "message_names", "parse", "private_pool"]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = top_level(name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *message_names()})

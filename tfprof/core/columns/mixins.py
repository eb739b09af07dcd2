"""Methods of results that upper rooms implement: pages in notebooks, comparisons.

Nothing here imports upwards: ``tfprof/__init__.py`` registers the functions, and methods look them
up when they are called.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


def _registered(name: str) -> Any:
    return getattr(importlib.import_module("tfprof"), name)


class NotebookMixin:
    """A result that notebooks show as the page that ``tfprof report`` would write of it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = _registered("html_of")(self)
        return html


class DiffMixin:
    """A result that can be compared with another of its kind: ``a.diff(b)``."""

    __slots__ = ()

    def diff(self, other: Self, **how: Any) -> Any:
        """Compare with another: what changed, and whether it is more than noise.

        Args:
            other: The result after; this one is the one before.
            how: As for ``tfprof.diff``: ``match``, ``view``, ``tool``.

        Returns:
            The answer of ``tfprof.diff``, a ``tfprof.tools.ToolResult``.

        Raises:
            UsageError: They cannot be compared.
        """
        return _registered("diff")(self, other, **how)

"""A result compared with another: ``a.diff(b)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


class ComparedWithOthers:
    """A result that can be compared with another of its kind.

    A step up in the house, like that to notebooks: a result knows that there are comparisons, and
    nothing more about them.
    """

    __slots__ = ()

    def diff(self, other: Self, **how: Any) -> Any:
        """What changed from this one to another, and whether it is more than noise.

        Args:
            other: After, if this one is before.
            how: As for ``tfprof.diff``: ``match``, ``view``, ``tool``.

        Returns:
            The answer of ``tfprof.diff``, a ``tfprof.tools.ToolResult``.

        Raises:
            UsageError: They cannot be compared.
        """
        from tfprof.comparison.ask import diff

        compare: Any = diff
        return compare(self, other, **how)

"""The lines that are drawn before the names of a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tfprof.core.text.characters import Glyphs


class Guides(NamedTuple):
    """How the lines of a tree are drawn.

    Attributes:
        branch: Before a name with others after it.
        last_branch: Before the last name below a parent.
        line: Before all that lies below the former, one level deeper.
        blank: The same below the latter.
        deep: Before a name beyond the levels that are drawn, from its depth.
    """

    branch: str
    last_branch: str
    line: str
    blank: str
    deep: Callable[[int], str]

    @classmethod
    def of_grid(cls, glyphs: Glyphs) -> Guides:
        """Those of a column of names."""
        branch, last, line = glyphs.branch, glyphs.last_branch, glyphs.line
        return cls(branch, last, line, "  ", lambda depth: f"{last}({depth}) ")

    def texts(self, parents: Sequence[int], depths: Sequence[int], most: int) -> list[str]:
        """What stands before each name.

        Args:
            parents: Place of each parent, which comes before; -1 for the first place, the root.
            depths: Levels below the root.
            most: Levels that are drawn; what is deeper stands at the last of them.
        """
        last_child = {parent: place for place, parent in enumerate(parents)}
        below = {-1: "", 0: ""}
        texts = []
        for place, (parent, depth) in enumerate(zip(parents, depths, strict=True)):
            start = below[parent]
            is_last = last_child[parent] == place
            if place == 0:
                texts.append("")
            elif depth > most:
                below[place] = start
                texts.append(start + self.deep(depth))
            else:
                below[place] = start + (self.blank if is_last else self.line)
                texts.append(start + (self.last_branch if is_last else self.branch))
        return texts

"""Versions and version ranges, as far as tfprof's own metadata use them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Release = tuple[int, ...]

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?(?P<range>[^;)]*)\)?\s*(?:;(?P<marker>.*))?"
)
_EXTRA = re.compile(r"""extra\s*==\s*['"](?P<extra>[\w.-]+)['"]""")
_CLAUSE = re.compile(r"(?P<operator>[<>=!~]=|[<>])\s*(?P<version>\d[\w.*+!-]*)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package that another package requires.

    Attributes:
        name: Its normalized name.
        range: Accepted versions, ``>=4.25``; empty: any.
        extra: The extra that requires it; empty: the package itself.
    """

    name: str
    range: str
    extra: str


def normalized(name: str) -> str:
    """A package's name in the normalized spelling of the package index."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement_of(line: str) -> Requirement | None:
    """Read one ``Requires-Dist`` line; None if it is not valid."""
    match = _REQUIREMENT.fullmatch(line.strip())
    if match is None:
        return None
    extra = _EXTRA.search(match["marker"] or "")
    range_ = ",".join(part.strip() for part in match["range"].split(",") if part.strip())
    return Requirement(normalized(match["name"]), range_, extra["extra"] if extra else "")


def release_of(version: str) -> Release:
    """The numbers of a version: ``2.16.0rc1`` is (2, 16, 0); empty if there are none."""
    numbers = re.match(r"\d+(?:\.\d+)*", version.strip())
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def major_of(version: str) -> int | None:
    """The first number of a version."""
    release = release_of(version)
    return release[0] if release else None


def is_within(version: str, range_: str) -> bool:
    """Whether a version is in a range; releases are compared, not pre-releases."""
    release = release_of(version)
    return all(_holds(release, clause) for clause in _CLAUSE.finditer(range_))


def _holds(release: Release, clause: re.Match[str]) -> bool:
    bound = release_of(clause["version"])
    width = max(len(release), len(bound))
    left, right = (part + (0,) * (width - len(part)) for part in (release, bound))
    is_prefix = release[: len(bound)] == bound
    if clause["version"].endswith("*"):
        return is_prefix == (clause["operator"] == "==")
    if clause["operator"] == "~=":
        return left >= right and release[: len(bound) - 1] == bound[:-1]
    operators: dict[str, Callable[[Release, Release], bool]] = {
        ">=": lambda a, b: a >= b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        "<": lambda a, b: a < b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
    }
    return operators[clause["operator"]](left, right)

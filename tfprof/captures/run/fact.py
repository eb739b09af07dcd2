"""What tools know of a host: facts, each worked out once, small enough to be sent elsewhere.

A tool asks hosts for facts and never looks at their events itself. So it makes no difference
whether a host has its events, or only the facts that another process has worked out of them
(``captures/parts``). A fact depends on its host alone, not on other hosts of the run.

>>> from tfprof.captures.run.fact import fact
>>> @fact
... def n_planes(host):
...     return len(host.space.planes)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import (
    Any,
    Concatenate,
    Generic,
    NamedTuple,
    ParamSpec,
    Protocol,
    TypeVar,
)

from tfprof.captures.rules import OURS, Rules
from tfprof.captures.run.memo import Memo

P = ParamSpec("P")
T = TypeVar("T")


class Key(NamedTuple):
    """A fact that was asked for.

    Attributes:
        fact: ``module:function``, the module without what all have in common.
        options: Its arguments by name, in the order of their names.
        rules: By which rules it is worked out (``captures/rules.py``).
    """

    fact: str
    options: tuple[tuple[str, Any], ...] = ()
    rules: str = OURS.name


class Sums(Protocol[T]):
    """How answers of several hosts become one: rows with equal keys add up.

    ``merged`` must give the same for partly merged answers as for all at once, if their order is
    kept.
    """

    def __call__(self, answers: Sequence[T]) -> T:
        """Merge answers in the order of the hosts."""


class Answers(Protocol):
    """What has facts: a host."""

    rules: Rules
    memo: Memo

    def by(self, rules: Rules) -> Any:
        """The same host by other rules."""

    def sums(self, hosts: Sequence[Any], key: Key) -> Callable[[], Any] | None:
        """The sum of a fact over hosts, if it is known without their own answers."""


H = TypeVar("H", bound=Answers)


class Fact(Generic[H, P, T]):
    """A function of a host that is called once for each host and options.

    Attributes:
        name: ``module:function``.
        merged: How answers of several hosts become one; None if they do not.
        has_rules: Whether it depends on the rules of its host. Others are worked out by ours, and
            once for all.
    """

    def __init__(
        self,
        function: Callable[Concatenate[H, P], T],
        merged: Callable[[Sequence[T]], T] | None = None,
        *,
        has_rules: bool,
    ) -> None:
        self.name = f"{function.__module__.removeprefix('tfprof.')}:{function.__qualname__}"
        self.merged, self.has_rules = merged, has_rules
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        _, *others = inspect.signature(function).parameters.values()
        self._names = tuple(one.name for one in others)
        self._defaults = {one.name: one.default for one in others}

    def __call__(self, host: H, *args: P.args, **kwargs: P.kwargs) -> T:
        """The answer of a host."""
        asked: H = host if self.has_rules else host.by(OURS)
        key = self.key(*args, **kwargs)._replace(rules=asked.rules.name)
        return asked.memo.once(key, lambda: self.__wrapped__(asked, *args, **kwargs))

    def key(self, *args: P.args, **kwargs: P.kwargs) -> Key:
        """Cache key of an answer by our rules."""
        options = self._defaults | dict(zip(self._names, args, strict=False)) | kwargs
        return Key(self.name, tuple(sorted(options.items())))

    def together(self, hosts: Sequence[H], *args: P.args, **kwargs: P.kwargs) -> T:
        """The answers of several hosts as one.

        Where all hosts of a run were summed up elsewhere, their own answers are not needed.
        """
        assert self.merged is not None, f"answers of {self.name} do not add up"
        if hosts:
            rules = hosts[0].rules if self.has_rules else OURS
            key = self.key(*args, **kwargs)._replace(rules=rules.name)
            of_all = hosts[0].by(rules).sums(hosts, key)
            if of_all is not None:
                known: T = of_all()
                return known
        return self.merged([self(host, *args, **kwargs) for host in hosts])


def fact(function: Callable[Concatenate[H, P], T]) -> Fact[H, P, T]:
    """Make a function of a host, and of options with defaults, a fact."""
    return Fact(function, has_rules=False)


def fact_by_rules(function: Callable[Concatenate[H, P], T]) -> Fact[H, P, T]:
    """The same for a function that depends on the rules of its host."""
    return Fact(function, has_rules=True)


def summed_fact(
    merged: Callable[[Sequence[T]], T], *, has_rules: bool = False
) -> Callable[[Callable[Concatenate[H, P], T]], Fact[H, P, T]]:
    """The same for a fact whose answers add up."""
    return lambda function: Fact(function, merged, has_rules=has_rules)

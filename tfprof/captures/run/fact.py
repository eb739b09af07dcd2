"""Facts of a host, which tools use; each is computed once, and small enough to send elsewhere.

A tool gets facts from hosts and never reads their events itself. So a host may have its events, or
only the facts that another process computed from them (``captures/parts``). A fact depends on its
host alone, not on other hosts of the run.

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
    """Cache key of a fact.

    Attributes:
        fact: ``module:function``; the module without the prefix that all share.
        options: Its arguments by name, in the order of their names.
        rules: Name of the rules by which it is computed (``captures/rules.py``).
    """

    fact: str
    options: tuple[tuple[str, Any], ...] = ()
    rules: str = OURS.name


class Sums(Protocol[T]):
    """Merges the answers of several hosts into one: rows with equal keys add up.

    ``merged`` must give the same result for partly merged answers as for all at once, if their
    order stays the same.
    """

    def __call__(self, answers: Sequence[T]) -> T:
        """Merge answers in the order of the hosts."""


class Answers(Protocol):
    """An object with facts, that is, a host."""

    rules: Rules
    memo: Memo

    def by(self, rules: Rules) -> Any:
        """The same host by other rules."""

    def sums(self, hosts: Sequence[Any], key: Key) -> Callable[[], Any] | None:
        """Return the sum of a fact over hosts, if it is available without their own answers."""


H = TypeVar("H", bound=Answers)


class Fact(Generic[H, P, T]):
    """A function of a host that runs once for each host and options.

    Attributes:
        name: ``module:function``.
        merged: Merges the answers of several hosts; None if they do not add up.
        has_rules: Whether it depends on the rules of its host. Other facts are computed once, by
            the rules of tfprof.
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
        """Return the answer of a host."""
        asked: H = host if self.has_rules else host.by(OURS)
        key = self.key(*args, **kwargs)._replace(rules=asked.rules.name)
        return asked.memo.once(key, lambda: self.__wrapped__(asked, *args, **kwargs))

    def key(self, *args: P.args, **kwargs: P.kwargs) -> Key:
        """Return the cache key of an answer by the rules of tfprof."""
        options = self._defaults | dict(zip(self._names, args, strict=False)) | kwargs
        return Key(self.name, tuple(sorted(options.items())))

    def together(self, hosts: Sequence[H], *args: P.args, **kwargs: P.kwargs) -> T:
        """Merge the answers of several hosts.

        If the sum over all hosts of a run is available, this does not need their own answers.
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
    """Turn a function of a host, and of options with defaults, into a fact."""
    return Fact(function, has_rules=False)


def fact_by_rules(function: Callable[Concatenate[H, P], T]) -> Fact[H, P, T]:
    """Turn a function that depends on the rules of its host into a fact."""
    return Fact(function, has_rules=True)


def summed_fact(
    merged: Callable[[Sequence[T]], T], *, has_rules: bool = False
) -> Callable[[Callable[Concatenate[H, P], T]], Fact[H, P, T]]:
    """Turn a function into a fact whose answers add up."""
    return lambda function: Fact(function, merged, has_rules=has_rules)

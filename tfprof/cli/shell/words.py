"""Sorted names of a profile, for a fast search by prefix."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfprof.profiles.model.profile import Profile

_AFTER_SLASH = "0"  # the character that follows "/"


class Vocabulary:
    """Sorted words.

    Args:
        words: The words, in any order.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted(set(words))

    def starting_with(self, prefix: str) -> Iterator[str]:
        """Words that start with a prefix, sorted."""
        for place in range(bisect_left(self._words, prefix), len(self._words)):
            if not self._words[place].startswith(prefix):
                return
            yield self._words[place]

    def containing(self, part: str) -> Iterator[str]:
        """Ends of the words that contain a text, from that text on, each once."""
        yield from dict.fromkeys(word[word.find(part) :] for word in self._words if part in word)

    def next_levels(self, prefix: str) -> Iterator[str]:
        """Words that start with a prefix, cut after the next slash: ``conv1/``.

        Costs one binary search for each result, however many words there are.
        """
        words, place = self._words, bisect_left(self._words, prefix)
        while place < len(words) and words[place].startswith(prefix):
            name = words[place]
            slash = name.find("/", len(prefix))
            if slash < 0:
                yield name
                place += 1
            else:
                yield name[: slash + 1]
                place = bisect_left(words, name[:slash] + _AFTER_SLASH, place)


class ProfileWords:
    """The words of a profile; each vocabulary is made at first use and then stays as it is.

    Args:
        profile: Returns the profile.
    """

    def __init__(self, profile: Callable[[], Profile]) -> None:
        self._get_profile = profile

    @property
    def _profile(self) -> Profile:
        return self._get_profile()

    def prepare(self) -> None:
        """Make all vocabularies."""
        for vocabulary in (self.names, self.segments, self.types, self.lines):
            next(vocabulary.starting_with(""), None)

    @cached_property
    def names(self) -> Vocabulary:
        """Names of ops."""
        return Vocabulary(self._names)

    @cached_property
    def segments(self) -> Vocabulary:
        """Parts of names between slashes."""
        return Vocabulary({part for name in self._names for part in name.split("/")})

    @cached_property
    def types(self) -> Vocabulary:
        """Op types, devices and types from op logs."""
        return Vocabulary(self._profile.ops.strings.values)

    @cached_property
    def lines(self) -> Vocabulary:
        """Python lines, named as in the code view."""
        return Vocabulary(frame.label for frame in self._profile.stacks.frames.values)

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """Steps, ascending."""
        return tuple(self._profile.steps.steps)

    @property
    def _names(self) -> list[str]:
        ops = self._profile.ops
        return [ops.name(row) for row in range(len(ops))]

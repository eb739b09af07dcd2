"""Parser of RE2's regular expression syntax that writes Python ``re`` syntax as it goes.

The rules are those of RE2's ``parse.cc`` in its default Perl-like mode, measured against
``tf.strings.regex_full_match`` of TensorFlow 2.21. As in RE2, open groups are kept on an explicit
stack, so deep nesting needs no recursion.

tfprof only asks whether a pattern matches a full name. What a group captures, and which of several
matches comes first, does not matter. So captures, names of groups and greediness are checked and
then dropped, and nested quantifiers are merged where that is exact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from unicodedata import category

from tfprof.errors import UsageError
from tfprof.options import _re2_charset as charset
from tfprof.options._re2_charset import CodePoints
from tfprof.options._re2_pieces import Piece, counted, empty, joined, repeated
from tfprof.options._re2_reader import NO_BACKREFERENCES, Flags, Reader

_MAX_REPEAT = 1000
# Longer digit strings make RE2 read the brace as a literal, and so do leading zeros.
_REPEAT = re.compile(r"\{(0|[1-9][0-9]{0,8})(,(0|[1-9][0-9]{0,8})?)?\}")
_REPEAT_OVERFLOW = 100_000_000
_GROUP_NAME_CATEGORIES = ("Mn", "Mc", "Nl", "Nd", "Pc")  # codespell:ignore

# RE2's assertions in Python's words. "$" without (?m) is \z, never "before a last newline". Up to
# Python 3.13 \B fails on empty text, hence the negated \b.
_BEGIN, _END = r"\A", r"\Z"
_ASSERTIONS = {"A": _BEGIN, "z": _END, "b": r"(?a:\b)", "B": r"(?a:(?!\b))"}

_NO_LOOKAROUND = "RE2 has no lookaround; list several expressions or use hide_name_regexes"
_PERL_OPERATOR_REMEDIES = {
    "(?=": _NO_LOOKAROUND,
    "(?!": _NO_LOOKAROUND,
    "(?<=": _NO_LOOKAROUND,
    "(?<!": _NO_LOOKAROUND,
    "(?>": "RE2 has no atomic groups; write (?:...)",
    "(?#": "RE2 has no comments; remove it",
    "(?P=": NO_BACKREFERENCES,
    "(?P>": "RE2 has no calls of groups; spell out the repeated part",
    # Accepted by RE2 from 2023-09 on and by the google-re2 wheel, but not by TensorFlow 2.21.
    "(?<": "TensorFlow's RE2 spells a named group (?P<name>...)",
    "(?P": "write a named group as (?P<name>...)",
    "(?|": "RE2 has no branch reset; write (?:...)",
    "(?(": "RE2 has no conditionals; list several expressions",
}


@dataclass(slots=True)
class _Group:
    """An open parenthesis, or the whole pattern: finished branches and the current one."""

    position: int
    outer_flags: Flags
    branches: list[list[Piece]] = field(default_factory=lambda: [[]])

    def close(self) -> Piece:
        pieces = [piece for branch in self.branches for piece in branch]
        weight = max((piece.weight for piece in pieces), default=1)
        if len(self.branches) == 1:
            if len(pieces) == 1:
                return pieces[0]
            text = joined(pieces)
            return Piece(text, weight, "sequence") if text else empty(weight)
        return Piece(f"(?:{'|'.join(map(joined, self.branches))})", weight)


class Parser(Reader):
    """One pass over one pattern; ``run`` returns the Python pattern."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.stack = [_Group(0, self.flags)]
        # Start of the quantifier just read, or -1: RE2 refuses to stack them.
        self.quantifier_at = -1

    def run(self) -> str:
        """The equivalent Python pattern.

        Raises:
            UsageError: RE2 would not accept the pattern.
        """
        for position, char in enumerate(self.pattern):
            if "\ud800" <= char <= "\udfff":
                raise self.error(position, position + 1, "not a Unicode character", "remove it")
        while self.at < len(self.pattern):
            before, self.quantifier_at = self.quantifier_at, -1
            self._step(before)
        if len(self.stack) > 1:
            start = self.stack[-1].position
            remedy = r"close the group, or write \( to match it"
            raise self.error(start, start + 1, "missing )", remedy)
        return self.stack[0].close().text

    def _push(self, piece: Piece) -> None:
        self.stack[-1].branches[-1].append(piece)

    def _push_set(self, ranges: CodePoints) -> None:
        self._push(Piece(charset.render(ranges)))

    def _push_literal(self, code_point: int) -> None:
        self._push_set(self.fold([(code_point, code_point)]))

    def _step(self, quantifier_before: int) -> None:
        char = self.pattern[self.at]
        if char == "\\":
            self._escape()
        elif char == "[":
            self._push_set(self.bracket())
        elif char == "(":
            self._open()
        elif char == ")":
            self._close()
        elif char in "*+?" or (char == "{" and self._repeat_at()):
            self._quantifier(quantifier_before)
        else:
            self.at += 1
            self._plain(char)

    def _plain(self, char: str) -> None:
        if char == "|":
            self.stack[-1].branches.append([])
        elif char == ".":
            self._push_set(charset.ANY if self.flags.dot_newline else charset.NOT_NEWLINE)
        elif char in "^$":
            text = f"(?m:{char})" if self.flags.multi_line else _BEGIN if char == "^" else _END
            self._push(Piece(text, kind="assertion"))
        else:
            self._push_literal(ord(char))

    def _open(self) -> None:
        start = self.at
        if self.pattern.startswith("(?P<", start):
            self._named_group()
        elif self.pattern.startswith("(?", start):
            self._perl_group()
        else:
            self.at += 1
            self.stack.append(_Group(start, self.flags))

    def _named_group(self) -> None:
        start = self.at
        end = self.pattern.find(">", start)
        name = self.pattern[start + 4 : end] if end >= 0 else ""
        if not name or not all(map(_is_name_char, name)):
            stop = end + 1 if end >= 0 else len(self.pattern)
            remedy = "write (?P<name>...) with a name of letters, digits and _"
            raise self.error(start, stop, "invalid name of a group", remedy)
        self.at = end + 1
        self.stack.append(_Group(start, self.flags))

    def _perl_group(self) -> None:
        """``(?flags)`` and ``(?flags:``; a flag must follow ``-``."""
        start = self.at
        flags = self.flags
        turn_on, seen = True, True
        for at in range(start + 2, len(self.pattern)):
            char = self.pattern[at]
            if char in ":)" and seen:
                self.at = at + 1
                if char == ":":
                    self.stack.append(_Group(start, self.flags))
                self.flags = flags
                return
            if char == "-" and turn_on:
                turn_on = seen = False
            elif char in "imsU":
                seen = True
                if char != "U":  # swaps greedy and lazy, which does not change the language
                    name = {"i": "fold_case", "m": "multi_line", "s": "dot_newline"}[char]
                    flags = replace(flags, **{name: turn_on})
            else:
                break
        else:
            at = len(self.pattern)
        raise self._perl_group_error(start, at + 1)

    def _perl_group_error(self, start: int, end: int) -> UsageError:
        for length in (4, 3):
            operator = self.pattern[start : start + length]
            if operator in _PERL_OPERATOR_REMEDIES:
                remedy = _PERL_OPERATOR_REMEDIES[operator]
                return self.error(start, start + length, "not supported by RE2", remedy)
        remedy = "the flags are i, m, s and U, as in (?i) or (?i-s:...)"
        return self.error(start, end, "invalid flags", remedy)

    def _close(self) -> None:
        if len(self.stack) == 1:
            remedy = r"remove it, or write \) to match it"
            raise self.error(self.at, self.at + 1, "unexpected )", remedy)
        group = self.stack.pop()
        self.flags = group.outer_flags
        self.at += 1
        self._push(group.close())

    def _repeat_at(self) -> re.Match[str] | None:
        match = _REPEAT.match(self.pattern, self.at)
        # RE2 reads numbers from 100 000 000 on as text, so the brace becomes a literal.
        if match and all(int(n) < _REPEAT_OVERFLOW for n in match.group(1, 3) if n):
            return match
        return None

    def _quantifier(self, before: int) -> None:
        start = self.at
        match = self._repeat_at() if self.pattern[start] == "{" else None
        self.at = match.end() if match else start + 1
        if self.pattern.startswith("?", self.at):  # lazy: the same language
            self.at += 1
        if before >= 0:
            remedy = "RE2 has no possessive or stacked quantifiers; use one, or a group (?:...)"
            raise self.error(before, self.at, "bad repetition operator", remedy)
        branch = self.stack[-1].branches[-1]
        if match:
            low, high = int(match[1]), self._high(match)
            if max(low, high or 0) > _MAX_REPEAT or (high is not None and high < low):
                raise self._repeat_size_error(start)
        if not branch:
            remedy = f"put something before it, or write \\{self.pattern[start]} to match it"
            raise self.error(start, self.at, "no argument for repetition operator", remedy)
        self.quantifier_at = start
        piece = branch.pop()
        if match is None:
            sign = self.pattern[start]
            branch.append(repeated(piece, int(sign == "+"), unbounded=sign != "?"))
            return
        factor = low if high is None else high
        weight = piece.weight * max(factor, 1)
        if weight > _MAX_REPEAT and max(low, factor) > 1:
            raise self._repeat_size_error(start)
        branch.append(counted(piece._replace(weight=weight), low, high))

    def _high(self, match: re.Match[str]) -> int | None:
        if match[2] is None:
            return int(match[1])
        return None if match[3] is None else int(match[3])

    def _repeat_size_error(self, start: int) -> UsageError:
        remedy = "use {low,high} with low <= high; the product of nested counts is at most 1000"
        return self.error(start, self.at, "invalid repetition size", remedy)

    def _escape(self) -> None:
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter and letter in _ASSERTIONS:
            self.at += 2
            self._push(Piece(_ASSERTIONS[letter], kind="assertion"))
        elif letter == "Q":
            end = self.pattern.find(r"\E", self.at + 2)
            stop = len(self.pattern) if end < 0 else end
            for char in self.pattern[self.at + 2 : stop]:
                self._push_literal(ord(char))
            self.at = stop if end < 0 else stop + 2
        elif letter == "C":
            # One byte in RE2. Text has no bytes here; the two agree for ASCII.
            self.at += 2
            self._push_set(charset.ANY)
        else:
            ranges = self.class_escape()
            if ranges is None:
                self._push_literal(self.char_escape())
            else:
                self._push_set(ranges)


def _is_name_char(char: str) -> bool:
    kind = category(char)
    return kind.startswith("L") or kind in _GROUP_NAME_CATEGORIES

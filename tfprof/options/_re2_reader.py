"""Reads the parts of RE2's syntax that match one character: escapes and classes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfprof.errors import UsageError
from tfprof.options import _re2_charset as charset
from tfprof.options._re2_charset import CodePoints

NO_BACKREFERENCES = "RE2 has no backreferences; spell out the repeated part"

_SIMPLE_ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ESCAPE_REMEDIES = {
    "Z": r"write \z for the end of the text",
    "E": r"\E only ends a \Q; remove it",
    "u": r"write \x{e9} for the character with hexadecimal code e9",
    "U": r"write \x{e9} for the character with hexadecimal code e9",
    "N": r"write \x{e9} for the character with hexadecimal code e9, or [^\n]",
    "x": r"write two hexadecimal digits, as in \x2f, or \x{...} up to \x{10ffff}",
    "e": r"write \x1b",
    "h": r"write [\t ]",
    "H": r"write [^\t ]",
    "V": r"write [^\v]",
    "R": r"write (?:\r\n|\n|\r)",
    "k": NO_BACKREFERENCES,
    "g": NO_BACKREFERENCES,
}
# An octal code needs a leading 0 or a second octal digit; \1 would be a backreference.
_SCRIPT = re.compile(r"[A-Z][A-Za-z_]{2,}")
_CODE = re.compile(r"(0[0-7]{0,2}|[1-7][0-7]{1,2})|x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]+)\}")


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags that change the language: ``i``, ``m`` and ``s``."""

    fold_case: bool = False
    multi_line: bool = False
    dot_newline: bool = False


class UnsupportedError(UsageError):
    """RE2 accepts the pattern, but tfprof does not support it."""


class Reader:
    """A pattern, the position in it and the flags in force there."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.flags = Flags()

    def error(
        self, start: int, end: int, problem: str, remedy: str, kind: type[UsageError] = UsageError
    ) -> UsageError:
        """The error for ``pattern[start:end]``, with a replacement."""
        return kind(
            f"regular expression {self.pattern!r}: {problem}: {self.pattern[start:end]!r} "
            f"at position {start}; {remedy}"
        )

    def fold(self, ranges: CodePoints) -> CodePoints:
        return charset.folded(ranges) if self.flags.fold_case else ranges

    def class_escape(self) -> CodePoints | None:
        r"""The set of ``\d``, ``\pN``, ``\P{Lu}`` and the like, if one comes next."""
        letter = self.pattern[self.at + 1 : self.at + 2]
        lower = letter.lower()
        if letter and lower in charset.PERL_CLASSES:
            self.at += 2
            return self._signed(charset.PERL_CLASSES[lower], letter != lower)
        if lower != "p":
            return None
        start = self.at
        name = self.pattern[start + 2 : start + 3]
        stop = start + 3
        if name == "{":
            end = self.pattern.find("}", stop)
            stop = len(self.pattern) if end < 0 else end + 1
            name = self.pattern[start + 3 : end] if end >= 0 else ""
        group = charset.unicode_group(name.removeprefix("^"))
        if group is None:
            remedy = r"use a category such as \pL or \p{Lu}"
            if not _SCRIPT.fullmatch(name.removeprefix("^")):
                raise self.error(start, stop, "unknown Unicode group", remedy)
            remedy += r", or a range of characters such as [\x{370}-\x{3ff}] for Greek"
            problem = "scripts are not supported"
            raise self.error(start, stop, problem, remedy, UnsupportedError)
        self.at = stop
        return self._signed(group, (letter == "P") != name.startswith("^"))

    def _signed(self, ranges: CodePoints, negative: bool) -> CodePoints:
        # RE2 folds first: (?i)\P{Lu} matches no letter that has an upper case.
        ranges = self.fold(ranges)
        return charset.negated(ranges) if negative else ranges

    def char_escape(self) -> int:
        """The code point of the next escape, which must stand for one character."""
        start = self.at
        char = self.pattern[start + 1 : start + 2]
        if not char:
            remedy = r"write \\ to match a backslash"
            raise self.error(start, start + 1, "trailing backslash", remedy)
        match = _CODE.match(self.pattern, start + 1)
        if match:
            code = int(match[1], 8) if match[1] else int(match[2] or match[3], 16)
            if code <= charset.MAX_CODE_POINT:
                self.at = match.end()
                return code
        elif char in _SIMPLE_ESCAPES:
            self.at += 2
            return _SIMPLE_ESCAPES[char]
        elif ord(char) < 0x80 and not char.isalnum():
            self.at += 2
            return ord(char)
        remedy = _ESCAPE_REMEDIES.get(char, f"write {char} without the backslash")
        if char in "123456789":
            remedy = r"RE2 has no backreferences; an octal code starts with 0, as in \07"
        elif char in "bBAzQC":
            remedy = rf"\{char} has no meaning in a class; remove it"
        stop = match.end() if match else start + 2
        raise self.error(start, stop, "invalid escape sequence", remedy)

    def bracket(self) -> CodePoints:
        """The set of the ``[...]`` that comes next."""
        start = self.at
        negative = self.pattern.startswith("^", start + 1)
        self.at = first = start + 1 + negative
        ranges: CodePoints = []
        while self.at == first or not self.pattern.startswith("]", self.at):
            self._need_bracket(start)
            ranges += self._bracket_item(start)
        self.at += 1
        return charset.negated(ranges) if negative else ranges

    def _need_bracket(self, start: int) -> None:
        if self.at >= len(self.pattern):
            remedy = r"close the class, or write \[ to match the bracket"
            raise self.error(start, len(self.pattern), "missing ]", remedy)

    def _bracket_item(self, start: int) -> CodePoints:
        begin = self.at
        end = self.pattern.find(":]", begin + 2) if self.pattern.startswith("[:", begin) else -1
        if end >= 0:
            name = self.pattern[begin + 2 : end]
            ranges = charset.POSIX_CLASSES.get(name.removeprefix("^"))
            if ranges is None:
                remedy = f"the classes are {', '.join(charset.POSIX_CLASSES)}"
                raise self.error(begin, end + 2, "unknown character class", remedy)
            self.at = end + 2
            return self._signed(ranges, name.startswith("^"))
        if self.pattern.startswith("\\", begin):
            escaped = self.class_escape()
            if escaped is not None:
                return escaped
        low = high = self._bracket_char()
        # "[a-]" is a and -; the dash needs something that is not the end of the class.
        if self.pattern.startswith("-", self.at) and self.pattern[self.at + 1 : self.at + 2] != "]":
            self.at += 1
            self._need_bracket(start)
            high = self._bracket_char()
        if high < low:
            remedy = r"write the lower character first, and \- to match a dash"
            raise self.error(begin, self.at, "invalid character class range", remedy)
        return self.fold([(low, high)])

    def _bracket_char(self) -> int:
        if self.pattern[self.at] == "\\":
            return self.char_escape()
        self.at += 1
        return ord(self.pattern[self.at - 1])

"""Parses a line of the shell into words and the target of the result."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.errors import UsageError

_QUOTES = "\"'"
_BLANKS = " \t\r\n\v\f"
_ESCAPABLE = _QUOTES + _BLANKS


@dataclass(frozen=True, slots=True)
class Line:
    """A parsed line.

    Attributes:
        words: Command and options, without quotes.
        outfile: The file of ``> FILE``; None if there is none.
        program: The command line after ``|``, for the system's shell; None if there is none.
    """

    words: tuple[str, ...] = ()
    outfile: str | None = None
    program: str | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place in the line.

    Attributes:
        text: The word without quotes.
        start: Start in the line.
        end: End in the line.
        open_quote: The quote that is not closed at its end, or ``""``.
        bare: Whether its first character is neither quoted nor escaped.
    """

    text: str
    start: int
    end: int
    open_quote: str
    bare: bool

    @property
    def is_comment(self) -> bool:
        """Whether it starts a comment."""
        return self.bare and self.text.startswith("#")


def parse_line(text: str) -> Line:
    r"""Parse a line.

    Blanks separate words. Quotes of either kind keep blanks in a word; between single quotes
    every character is ordinary. A backslash makes a quote or a blank ordinary; before any other
    character it is ordinary itself, so that regexes need no second backslash. ``>``, ``|`` and
    ``#`` are special only at the beginning of a word: ``a|b`` is a regex. The text after ``#`` is
    a comment.

    >>> parse_line(r"scope -show_name_regexes '.* conv\d' > out.txt")
    Line(words=('scope', '-show_name_regexes', '.* conv\\d'), outfile='out.txt', program=None)

    Raises:
        UsageError: A quote is not closed, or a file or program is missing.
    """
    words: list[str] = []
    position = 0
    while (word := next_word(text, position)) is not None:
        if word.is_comment:
            break
        if word.bare and text[word.start] == "|":
            return Line(tuple(words), program=_program(text[word.start + 1 :]))
        if word.bare and text[word.start] == ">":
            return Line(tuple(words), outfile=_outfile(text, word.start + 1))
        if word.open_quote:
            raise UsageError(
                f"the quote {word.open_quote} at column {word.start + 1} is not closed; a "
                f"backslash before a quote makes it an ordinary character: \\{word.open_quote}"
            )
        words.append(word.text)
        position = word.end
    return Line(tuple(words))


def next_word(text: str, position: int) -> Word | None:
    """The first word from a position on, or None."""
    while position < len(text) and text[position] in _BLANKS:
        position += 1
    if position == len(text):
        return None
    start = position
    quote = ""
    chars: list[str] = []
    while position < len(text):
        char = text[position]
        follower = text[position + 1 : position + 2]
        if not quote and char in _BLANKS:
            break
        if char == quote:
            quote = ""
        elif not quote and char in _QUOTES:
            quote = char
        elif char == "\\" and _is_escape(follower, quote):
            chars.append(follower)
            position += 1
        else:
            chars.append(char)
        position += 1
    return Word("".join(chars), start, position, quote, text[start] not in (*_QUOTES, "\\"))


def last_word(text: str) -> tuple[list[Word], Word]:
    """The words before the cursor, and the one at it, which may be empty."""
    words: list[Word] = []
    position = 0
    while (word := next_word(text, position)) is not None:
        words.append(word)
        position = word.end
    if words and words[-1].end == len(text):
        return words[:-1], words[-1]
    return words, Word("", len(text), len(text), "", bare=True)


def _is_escape(follower: str, quote: str) -> bool:
    """Whether a backslash makes this character ordinary."""
    if quote == "'" or not follower:
        return False
    return follower == quote if quote else follower in _ESCAPABLE


def _outfile(text: str, position: int) -> str:
    if text[position : position + 1] == ">":
        raise UsageError(">> is not supported; write > FILE, with --force to overwrite")
    word = next_word(text, position)
    if word is None or (word.bare and text[word.start] in "|>#"):
        raise UsageError("> needs the name of a file, such as > report.txt")
    if word.open_quote:
        raise UsageError(f"the quote {word.open_quote} after > is not closed")
    after = next_word(text, word.end)
    if after is None or after.is_comment:
        return word.text
    raise UsageError(
        f"> {word.text} must end the line, but {text[after.start :]!r} follows; put options before "
        ">, and quotes around a name with blanks"
    )


def _program(text: str) -> str:
    if not text.strip():
        raise UsageError("| needs a program, such as | grep conv")
    return text.strip()


def quoted(text: str) -> str:
    """The text as a word that ``parse_line`` reads back."""
    special = any(char in _ESCAPABLE for char in text) or text.endswith("\\")
    if not special and text[:1] not in ("", "|", ">", "#"):
        return text
    inner = text.replace("'", "'\\''")
    return f"'{inner}'"

"""A line of the shell, taken apart: words, and where the result goes."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.errors import UsageError

_QUOTES = "\"'"
_BLANKS = " \t\r\n\v\f"
_ESCAPABLE = _QUOTES + _BLANKS


@dataclass(frozen=True, slots=True)
class Line:
    """What a line says.

    Attributes:
        words: Command and options, without the quotes around them.
        outfile: Where ``> FILE`` sends the result; None is nowhere else.
        program: What follows ``|``: a command line of the system's shell; None if there is none.
    """

    words: tuple[str, ...] = ()
    outfile: str | None = None
    program: str | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """A word, and how it stands in the line.

    Attributes:
        text: Without quotes.
        start: Where it begins.
        end: Where it ends.
        open_quote: The quote that is still open at its end, or nothing.
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
    r"""Take a line apart.

    Blanks separate words. Quotes of either kind keep blanks together; between single quotes
    everything stands for itself. A backslash takes the meaning from a quote or a blank, and is
    an ordinary character before anything else, so that regexes need no second backslash. ``>``,
    ``|`` and ``#`` mean something at the beginning of a word only: ``a|b`` is a regex. What
    follows ``#`` is a comment.

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
    found: list[str] = []
    while position < len(text):
        char = text[position]
        follower = text[position + 1 : position + 2]
        if not quote and char in _BLANKS:
            break
        if char == quote:
            quote = ""
        elif not quote and char in _QUOTES:
            quote = char
        elif char == "\\" and _takes_meaning(follower, quote):
            found.append(follower)
            position += 1
        else:
            found.append(char)
        position += 1
    return Word("".join(found), start, position, quote, text[start] not in (*_QUOTES, "\\"))


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


def _takes_meaning(follower: str, quote: str) -> bool:
    """Whether a backslash before this character is not an ordinary one."""
    if quote == "'" or not follower:
        return False
    return follower == quote if quote else follower in _ESCAPABLE


def _outfile(text: str, position: int) -> str:
    if text[position : position + 1] == ">":
        raise UsageError(">> is not there; write > FILE, with --force to overwrite")
    word = next_word(text, position)
    if word is None or (word.bare and text[word.start] in "|>#"):
        raise UsageError("> needs the name of a file, such as > report.txt")
    if word.open_quote:
        raise UsageError(f"the quote {word.open_quote} behind > is not closed")
    after = next_word(text, word.end)
    if after is None or after.is_comment:
        return word.text
    raise UsageError(
        f"nothing can follow > {word.text}, but there is {text[after.start :]!r}; put options "
        "before >, and quotes around a name with blanks"
    )


def _program(text: str) -> str:
    if not text.strip():
        raise UsageError("| needs a program, such as | grep conv")
    return text.strip()


def quoted(text: str) -> str:
    """A word such that ``parse_line`` reads the text again."""
    special = any(char in _ESCAPABLE for char in text) or text.endswith("\\")
    if not special and text[:1] not in ("", "|", ">", "#"):
        return text
    inner = text.replace("'", "'\\''")
    return f"'{inner}'"

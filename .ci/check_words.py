"""List phrases in texts, comments and names of tests that plain English says better.

    python .ci/check_words.py            each hit with its line, and what to write; exit 1 if any
    python .ci/check_words.py --count    hits by folder

Reads strings, comments and names of tests in Python, and other text files, but no code in Markdown.
A phrase may go on in the next line.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = {".css", ".html", ".js", ".md", ".py", ".pyx", ".pxi", ".sh", ".toml", ".ts", ".tsv"}
FOLDERS = (
    *(".ci", "benchmarks", "changelog.d", "docs", "examples", "fuzz", "protos", "tests", "tfprof"),
)
LEFT_OUT = (
    # The list itself, and a page that repeats docstrings.
    *(".ci/check_words.py", "tests/test_words.py", "docs/modules.md"),
)

BE = "(?:is|are|was|were|be|been|being)"
ADVERB = "(?:(?:not|never|also|only|still|then|now|already|once|often) )?"
COMPARATIVE = "(?:deep|earli|fast|high|larg|lat|long|low|old|short|slow|small|wid)er"
SOFTWARE = (
    "(?:tfprof|tensorflow|jax|xla|keras|duckdb|chromium|python|it|this|that|which|"
    r"(?:the|a|an|each|every|its|this) (?!user|reader|caller|person|client)[\w-]+)"
)
PHRASES = {
    f"{BE} {ADVERB}told": "'is reported', 'gets'; better: who reports it",
    f"{BE} {ADVERB}asked": "'is requested', 'runs', 'on request'; better: who requests it",
    f"{BE} {ADVERB}said": "'is stated', 'is reported'; better: who states it",
    f"{BE} known by": "'is identified by', 'its key is'",
    "(?:as|if|when|than|where|unless) (?:told|asked|said)": "'as requested', 'on request'",
    "nobody": "'no user', 'no op', 'nothing'",
    "whoever": "'users who', 'callers that'",
    "(?:anyone|anybody|somebody|someone|everybody|everyone)": "'any user', 'a caller', 'others'",
    f"{BE} no(?! (?:more|less|{COMPARATIVE})\\b)": "'is not a', 'has no'",
    f"{SOFTWARE} (?:wants|believes|thinks|hopes)": "'needs', 'requires', 'takes'",
    f"{SOFTWARE} (?:tells|asks)": "'reports', 'shows', 'requests', 'queries'",
    f"{SOFTWARE} (?:knows|sees)": "'has', 'holds', 'covers', 'reads', 'finds'",
}
CODE = re.compile(r"^```.*?^```|`[^`]*`", re.MULTILINE | re.DOTALL)
"""Code, output and names in Markdown, whose words stand elsewhere, too."""
GAP = r"[\s_/#*>]+"


def _pattern() -> re.Pattern[str]:
    phrases = [f"(?P<p{i}>{phrase})" for i, phrase in enumerate(PHRASES)]
    any_phrase = "|".join([f"there {BE} no", *phrases]).replace(" ", GAP)
    return re.compile(f"(?<![a-z0-9])(?:{any_phrase})(?![a-z0-9])")


PATTERN = _pattern()
WORDS = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def hits(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, phrase and advice of each phrase in a file."""
    text = path.read_text(encoding="utf-8").lower()  # many times as fast as ignoring case
    if path.suffix == ".py" and PATTERN.search(text):
        text = _without_code(text)
    elif path.suffix == ".md":
        text = CODE.sub(lambda block: "\n" * block[0].count("\n"), text)
    advice = list(PHRASES.values())
    for match in PATTERN.finditer(text):
        if match.lastgroup:
            line = text.count("\n", 0, match.start()) + 1
            yield line, " ".join(match[0].split()), advice[int(match.lastgroup[1:])]


def _without_code(source: str) -> str:
    """Python source in which all but strings, comments and names of tests is blank."""
    lines = [list(re.sub(r"[^\n]", " ", line)) for line in source.splitlines(keepends=True)]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in WORDS or token.string.startswith("test_"):
            row, column = token.start
            for part in token.string.splitlines(keepends=True):
                lines[row - 1][column : column + len(part)] = part
                row, column = row + 1, 0
    return "".join("".join(line) for line in lines)


def main(arguments: list[str]) -> int:
    """Print all hits, or how many there are; 1 if there are any."""
    places = [ROOT.glob("*"), *((ROOT / folder).rglob("*") for folder in FOLDERS)]
    paths = sorted(path for place in places for path in place if path.suffix in SUFFIXES)
    names = [path.relative_to(ROOT).as_posix() for path in paths]
    names = [name for name in names if not name.startswith(LEFT_OUT)]
    found = [(name, *hit) for name in names for hit in hits(ROOT / name)]
    if "--count" in arguments:
        folders = Counter("/".join(name.split("/")[:2]) for name, *_ in found)
        for folder, count in sorted(folders.items()):
            print(f"{count:5} {folder}")
    else:
        for name, line, phrase, advice in found:
            print(f"{name}:{line}: {phrase!r}: {advice}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

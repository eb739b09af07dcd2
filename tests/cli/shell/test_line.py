import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.cli.shell.line import Line, next_word, parse_line, quoted
from tfprof.errors import UsageError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ()),
        ("   \t", ()),
        ("op -max_depth 3", ("op", "-max_depth", "3")),
        ("op -select ''", ("op", "-select", "")),
        ("op -a='q r' \"x y\"", ("op", "-a=q r", "x y")),
        (r"scope -show_name_regexes .*\.w\d", ("scope", "-show_name_regexes", r".*\.w\d")),
        (r"a\ b it\'s", ("a b", "it's")),
        (r"""'a\'b "say \"hi\" \d" """, ("a\\b", r'say "hi" \d')),
        ("conv|bn a>b", ("conv|bn", "a>b")),
        ("x '>' \\| ", ("x", ">", "\\|")),
        ("op -x # note > out.txt", ("op", "-x")),
        ("op a#b '#c' \\#", ("op", "a#b", "#c", "\\#")),
    ],
)  # fmt: skip
def test_words(text, words):
    assert parse_line(text) == Line(words)


def test_a_file_or_a_program_takes_the_result():
    assert parse_line("op > out.txt") == Line(("op",), outfile="out.txt")
    assert parse_line("op >'my file'") == Line(("op",), outfile="my file")
    assert parse_line("op | grep 'a b' | wc -l") == Line(("op",), program="grep 'a b' | wc -l")
    assert parse_line("op > out.txt # note") == Line(("op",), outfile="out.txt")
    assert parse_line("op | grep -v '#' # note").program == "grep -v '#' # note"
    assert parse_line("op |sort") == Line(("op",), program="sort")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("op 'abc", "quote ' at column 4 is not closed"),
        ("op >", "> needs the name of a file"),
        ("op > | x", "> needs the name of a file"),
        ("op > # x", "> needs the name of a file"),
        ("op > a --force", "put options before >"),
        ("op > a b", "> a must end the line"),
        ("op > 'a", "is not closed"),
        ("op >> a", ">> is not supported"),
        ("op |  ", "| needs a program"),
    ],
)
def test_what_can_not_be_meant(text, message):
    with pytest.raises(UsageError) as caught:
        parse_line(text)
    assert message in str(caught.value)


@given(st.lists(st.text(st.characters(exclude_characters="\0"), max_size=12), max_size=6))
def test_quoted_words_come_back(words):
    assert parse_line(" ".join(["op", *map(quoted, words)])) == Line(("op", *words))


@given(st.text(st.sampled_from("ab '\"\\|>#=\t")))
def test_every_text_is_words_or_a_clear_error(text):
    try:
        line = parse_line(text)
    except UsageError:
        return
    assert all(isinstance(word, str) for word in line.words)


@given(st.text(st.sampled_from("ab '\"\\|>")))
def test_words_cover_the_line_in_order(text):
    position = 0
    while (word := next_word(text, position)) is not None:
        assert position <= word.start < word.end <= len(text)
        assert not text[position : word.start].strip()
        position = word.end
    assert not text[position:].strip()

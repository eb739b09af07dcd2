import pytest

from tfprof.cli.shell.completion import CommandFacts, Completer, OptionFacts
from tfprof.cli.shell.line import parse_line
from tfprof.cli.shell.words import Vocabulary

OPTIONS = [
    OptionFacts("max_depth", True),
    OptionFacts("order_by", True, "choice", ("name", "bytes", "micros")),
    OptionFacts("select", True, "choices", ("bytes", "micros", "params")),
    OptionFacts("step", True, "step"),
    OptionFacts("show_name_regexes", True, "names"),
    OptionFacts("account_type_regexes", True, "types"),
    OptionFacts("account_displayed_op_only", False, "bool"),
    OptionFacts("output", True, "output", ("none", "stdout", "timeline")),
    OptionFacts("outfile", True, "file"),
    OptionFacts("force", False),
]
BY_NAME = {option.name: option for option in OPTIONS}
NAMES = ["conv1/weights", "conv1/bias", "conv1/bn/gamma", "conv1-x", "conv2/w", "fc.1/w", "x y,z"]


class Known:
    names = Vocabulary(NAMES)
    segments = Vocabulary({part for name in NAMES for part in name.split("/")})
    types = Vocabulary(["Conv2D", "MatMul", "_trainable_variables", "/device:cpu:0"])
    lines = Vocabulary(["train.py:3:main"])
    steps = (0, 10)


def files(typed):
    return [path for path in ("out.txt", "runs/", "my file") if path.startswith(typed)]


COMPLETER = Completer(
    {
        "scope": "Scopes.",
        "op": "Ops.",
        "code": "Lines.",
        "flops": "Counts.",
        "set": "Set.",
        "help": "Help.",
    },
    {
        "scope": CommandFacts(BY_NAME, "file", "scope"),
        "op": CommandFacts(BY_NAME, "file", "op"),
        "flops": CommandFacts({"force": BY_NAME["force"], "outfile": BY_NAME["outfile"]}, "files"),
        "code": CommandFacts(BY_NAME, "file", "code"),
        "set": CommandFacts(BY_NAME, "setting"),
        "help": CommandFacts(arguments="command"),
    }.__getitem__,
    Known(),
    files,
)


def shown(text):
    return [found.shown for found in COMPLETER.complete(text)]


def lines(text):
    """The whole lines that result."""
    return [text[: found.start] + found.text for found in COMPLETER.complete(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["scope", "op", "code", "flops", "set", "help"]),
        ("s", ["scope", "set"]),
        ("help c", ["code"]),
        ("nosuch -", []),
        ("op -o", ["-order_by", "-output", "-outfile"]),
        ("op --or", ["--order_by"]),
        ("op --max-d", ["--max_depth"]),
        ("op -order_by ", ["name", "bytes", "micros"]),
        ("op -order_by=m", ["micros"]),
        ("op -select micros,p", ["params"]),
        ("op -step ", ["-1", "0", "10"]),
        ("op -step 1", ["10"]),
        ("op -account_displayed_op_only t", ["true"]),
        ("op -max_depth ", []),
        ("op -force ", ["out.txt", "runs/", "my file"]),
        ("op r", ["runs/"]),
        ("op ", ["out.txt", "runs/", "my file"]),
        ("flops ", ["-force", "-outfile", "out.txt", "runs/", "my file"]),
        ("flops r", ["runs/"]),
        ("set r", []),
        ("set or", ["order_by"]),
        ("set order_by m", ["micros"]),
        ("set order_by=m", ["micros"]),
        ("set order_by micros s", ["select", "step", "show_name_regexes"]),
        ("or", ["order_by="]),
        ("order_by=m", ["micros"]),
        ("nosuch=m", []),
        ("op order_by=m", []),
        ("op -select micros,mi", []),
        ("op -select=micros,", ["bytes", "params"]),
        ("op -show_name_regexes .*Mul", [".*Mul"]),
        ("scope -account_type_regexes .*cpu", [".*cpu:0"]),
        ("code -show_name_regexes .*:3", [".*:3:main"]),
        ("op -output ", ["none", "stdout", "timeline:outfile="]),
        ("op -output timeline:outfile=o", ["timeline:outfile=out.txt"]),
        ("op -outfile o", ["out.txt"]),
        ("scope -show_name_regexes c", ["conv1-x", "conv1/", "conv2/"]),
        ("scope -show_name_regexes conv1/b", ["conv1/bias", "conv1/bn/"]),
        ("scope -show_name_regexes .*b", [".*bias", ".*bn"]),
        ("scope -show_name_regexes conv2/w,fc", [r"fc\.1/"]),
        ("scope -show_name_regexes (", []),
        ("scope -account_type_regexes _", ["_trainable_variables"]),
        ("op -show_name_regexes M", ["MatMul"]),
        ("code -show_name_regexes tr", [r"train\.py:3:main"]),
        ("op | gr", []),
        ("op > o", ["out.txt"]),
        ("op >r", ["runs/"]),
    ],
)
def test_suggestions(text, expected):
    assert shown(text) == expected


def test_an_assigned_option_of_set_is_not_offered_twice_as_a_word():
    assert shown("set -max") == ["-max_depth"]


def test_what_needs_quotes_gets_them():
    assert lines("op -outfile m") == ["op -outfile 'my file'"]
    assert lines("op -outfile='m") == ["op -outfile='my file'"]
    assert lines("scope -show_name_regexes x") == [r"scope -show_name_regexes 'x y\,z'"]
    assert lines("op > m") == ["op > 'my file'"]


def test_the_last_element_of_a_list_is_completed_and_the_others_stay():
    assert lines("op -select micros,p") == ["op -select micros,params"]
    assert lines("op -select=micros,p") == ["op -select=micros,params"]
    assert lines("set select=micros,p") == ["set select=micros,params"]
    assert lines("select='micros,p") == ["select=micros,params"]


@pytest.mark.parametrize("text", ["op -outfile m", "scope -show_name_regexes x", "op >m"])
def test_what_is_suggested_can_be_read(text):
    for line in lines(text):
        parse_line(line)


def test_what_is_offered_says_what_it_is():
    assert [found.about for found in COMPLETER.complete("sc")] == ["Scopes."]
    assert [found.about for found in COMPLETER.complete("help sc")] == ["Scopes."]


def test_many_names_cost_no_more_than_what_is_offered():
    """Counted, not timed: how many names are looked at."""

    class Counting(str):
        looked = 0

        def startswith(self, *arguments):
            Counting.looked += 1
            return super().startswith(*arguments)

    many = Vocabulary([])
    many._words = sorted(Counting(f"scope_{i % 100}/op_{i}") for i in range(100_000))
    assert len(list(many.next_levels("scope_"))) == 100
    assert Counting.looked <= 2 * 100 + 1


def test_the_number_of_suggestions_is_limited():
    class Many(Known):
        names = Vocabulary(f"n{i}" for i in range(1000))

    many = Completer(COMPLETER.commands, COMPLETER.facts_of, Many(), files)
    assert len(many.complete("scope -show_name_regexes n")) == 200

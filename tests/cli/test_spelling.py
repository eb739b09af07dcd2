import pytest

from tfprof.cli.spelling import Flag, canonical
from tfprof.errors import UsageError
from tfprof.options.lists import split_list

FLAGS = {
    "max_depth": Flag("--max_depth", "value"),
    "account_displayed_op_only": Flag("--account_displayed_op_only", "bool"),
    "force": Flag("--force", "flag"),
    "o": Flag("--outfile", "value"),
    "outfile": Flag("--outfile", "value"),
}


@pytest.mark.parametrize(
    "words",
    ["-max_depth 4", "-max_depth=4", "--max_depth=4", "--max_depth 4", "--max-depth 4",
     "--max-depth=4", "-max-depth 4"],
)  # fmt: skip
def test_every_spelling_is_one(words):
    assert canonical(words.split(), FLAGS) == ["--max_depth=4"]


@pytest.mark.parametrize(
    ("words", "value"),
    [("", "true"), ("true", "true"), ("NO", "NO"), ("=0", "0")],
)
def test_bool_takes_only_words_for_true_and_false(words, value):
    joined = f"-account_displayed_op_only{words if words[:1] == '=' else ' ' + words}"
    result = canonical([*joined.split(), "path"], FLAGS)
    assert result == [f"--account_displayed_op_only={value}", "path"]


def test_bool_before_another_option_is_true():
    result = canonical(["-account_displayed_op_only", "-max_depth", "2"], FLAGS)
    assert result == ["--account_displayed_op_only=true", "--max_depth=2"]


def test_value_may_begin_with_a_dash():
    assert canonical(["-max_depth", "-1"], FLAGS) == ["--max_depth=-1"]


def test_short_option_takes_joined_value():
    assert canonical(["-oout.txt", "-o", "-"], FLAGS) == ["--outfile=out.txt", "--outfile=-"]


def test_double_dash_ends_options():
    assert canonical(["--force", "--", "-max_depth"], FLAGS) == ["--force", "--", "-max_depth"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-max_dept", "3"], "did you mean --max_depth?"),
        (["-outfil", "x"], "did you mean --outfile?"),
        (["-out", "x"], "did you mean --outfile?"),
        (["-outfilex"], "did you mean --outfile?"),
        (["-max_depth"], "needs a value"),
        (["--force=1"], "takes no value"),
        (["--zzzz"], "--help lists them all"),
    ],
)
def test_mistakes_are_named(words, message):
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        canonical(words, FLAGS)


@pytest.mark.parametrize(
    ("texts", "elements"),
    [
        (["a,b"], ["a", "b"]),
        (["a", "b,,c"], ["a", "b", "c"]),
        (["''"], []),
        ([""], []),
        (['"a,b"'], ["a", "b"]),
        ([r"a\,b,c"], ["a,b", "c"]),
        ([r"x{1\,2}\.y"], [r"x{1,2}\.y"]),
        ([r"a\\,b"], [r"a\\", "b"]),
        (["a\\"], ["a\\"]),
    ],
)
def test_lists(texts, elements):
    assert split_list(texts) == elements

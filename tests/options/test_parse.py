import warnings

import pytest

from tfprof.errors import TfprofWarning, UsageError
from tfprof.options.builder import ProfileOptionBuilder
from tfprof.options.parse import parse_options
from tfprof.options.spec import BY_NAME, OPTIONS, ORDER_BY, SELECT

pytestmark = pytest.mark.one_engine

INTS = [option.name for option in OPTIONS if option.kind == "int"]
LISTS = [option.name for option in OPTIONS if option.kind == "list"]
REGEXES = [option.name for option in OPTIONS if option.is_regex]


def refused(**options):
    with pytest.raises(UsageError) as caught:
        parse_options(options)
    return str(caught.value)


def test_missing_keys_have_the_defaults_of_tensorflows_dict():
    parsed = parse_options({})
    assert (parsed.max_depth, parsed.step, parsed.order_by) == (10, -1, "name")
    assert parsed.select == ()
    assert parsed.account == ()
    assert not parsed.start.matches("a")
    assert not parsed.show.matches("a")
    assert parsed.output.type == "stdout"
    assert not parsed.account_displayed_op_only
    assert all(parsed.minimum(name[4:]) == 0 for name in BY_NAME if name.startswith("min_"))


def test_select_is_a_set_in_byte_order():
    parsed = parse_options({"select": ["params", "bytes", "params", "cpu_micros"]})
    assert parsed.select == ("bytes", "cpu_micros", "params")


def test_any_iterable_of_strings_is_a_list():
    parsed = parse_options({"select": ("micros",), "account_type_regexes": iter(["a", "b"])})
    assert parsed.select == ("micros",)
    assert len(parsed.account) == 2


def test_only_the_lone_shortcut_accounts_everything():
    assert parse_options({"account_type_regexes": [".*"]}).account_everything
    assert not parse_options({"account_type_regexes": [".*", "x"]}).account_everything
    assert not parse_options({"account_type_regexes": []}).account_everything


def test_the_shortcut_matches_newlines_only_alone_and_never_in_trim_or_hide():
    name = "a\nb"
    lone = parse_options({option: [".*"] for option in REGEXES})
    assert lone.start.matches(name)
    assert lone.show.matches(name)
    assert lone.account[0].matches(name)
    assert not lone.trim.matches(name)
    assert not lone.hide.matches(name)
    listed = parse_options({option: [".*", "x"] for option in REGEXES})
    assert not any(matcher.matches(name) for matcher in (listed.start, listed.show))
    assert not any(matcher.matches(name) for matcher in listed.account)


@pytest.mark.parametrize("options", [None, 3, [("step", 1)], "step=1"])
def test_options_must_be_a_dict(options):
    with pytest.raises(UsageError, match="must be a dict"):
        parse_options(options)


def test_unknown_keys_name_the_key_a_guess_and_all_allowed_ones():
    text = refused(max_dept=3)
    assert "'max_dept'" in text
    assert "did you mean 'max_depth'" in text
    assert all(name in text for name in BY_NAME)


def test_unknown_order_by_names_the_allowed_ones():
    text = refused(order_by="depth")
    assert "'depth'" in text
    assert all(name in text for name in ORDER_BY)


def test_no_order_is_an_order():
    assert parse_options({"order_by": ""}).order_by == ""


def test_unknown_attributes_name_the_allowed_ones():
    text = refused(select=["micros", "micro"])
    assert "'micro'" in text
    assert "did you mean 'micros'" in text
    assert all(name in text for name in SELECT)


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("value", [1.5, "3", None, [1]], ids=str)
def test_numbers_must_be_integers(name, value):
    text = refused(**{name: value})
    assert f"{name}={value!r}" in text
    assert "integer" in text


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("value", [2**63, -(2**63) - 1])
def test_numbers_must_fit_into_64_bits(name, value):
    assert f"{name}={value}" in refused(**{name: value})
    assert "64 bits" in refused(**{name: value})


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63)])
def test_the_largest_numbers_pass(value):
    assert parse_options({"min_bytes": value}).minimum("bytes") == value


def test_numpy_integers_pass():
    np = pytest.importorskip("numpy")
    assert parse_options({"step": np.int64(3)}).step == 3


@pytest.mark.parametrize("name", LISTS)
def test_a_string_is_not_a_list_of_strings(name):
    text = refused(**{name: "micros"})
    assert f"{name}='micros'" in text
    assert "['micros']" in text


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("value", [3, None, [3], [None], [b"micros"]], ids=str)
def test_lists_must_hold_strings(name, value):
    text = refused(**{name: value})
    assert name in text
    assert "string" in text


@pytest.mark.parametrize("name", REGEXES)
def test_invalid_regexes_name_the_pattern(name):
    assert "'(a'" in refused(**{name: ["ok", "(a"]})


@pytest.mark.parametrize("name", REGEXES)
def test_invalid_regexes_name_the_option(name):
    assert name in refused(**{name: ["ok", "(a"]})


@pytest.mark.parametrize("value", ["yes", None, 1.0])
def test_account_displayed_must_be_a_bool(value):
    assert f"account_displayed_op_only={value!r}" in refused(account_displayed_op_only=value)


def test_output_and_order_must_be_strings():
    assert "output=3 must be a string" in refused(output=3)
    assert "order_by=['name'] must be a string" in refused(order_by=["name"])


def test_dump_to_file_is_an_old_name_of_the_file_output():
    with pytest.warns(TfprofWarning, match="deprecated.*outfile=out.txt"):
        parsed = parse_options({"dump_to_file": "out.txt", "output": "none"})
    assert (parsed.output.type, parsed.output.outfile) == ("file", "out.txt")
    assert parse_options({"dump_to_file": ""}).output.type == "stdout"
    assert "dump_to_file=3" in refused(dump_to_file=3)


def test_the_callers_dict_and_lists_stay_as_they_are():
    options = ProfileOptionBuilder.time_and_memory()
    before = repr(options)
    parse_options(options)
    assert repr(options) == before


def test_every_preset_passes_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for preset in (
            ProfileOptionBuilder.time_and_memory(),
            ProfileOptionBuilder.float_operation(),
            ProfileOptionBuilder.trainable_variables_parameter(),
            ProfileOptionBuilder().build(),
        ):
            parse_options(preset)
            parse_options(preset, classic=True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_dept": 3}, "max_dept"),
        ({"order_by": "depth"}, "depth"),
        ({"select": ["micro"]}, "micro"),
        ({"show_name_regexes": ["(a"]}, r"\(a"),
        ({"trim_name_regexes": "ab"}, "letter by letter"),
    ],
)
def test_classic_mode_warns_of_what_tensorflow_lets_pass(options, told):
    with pytest.warns(TfprofWarning, match=told):
        parse_options(options, classic=True)


@pytest.mark.parametrize(
    "options", [{"step": "1"}, {"step": 2**63}, {"select": [3]}, {"output": 3}]
)
def test_classic_mode_refuses_what_tensorflow_refuses(options):
    with pytest.raises(UsageError):
        parse_options(options, classic=True)

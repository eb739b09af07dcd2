import pytest

from tfprof.options.spec import ALL_VIEWS, BY_NAME, OPTIONS, ORDER_BY, SELECT

pytestmark = pytest.mark.one_engine

REPORT_ORDER = (
    "-max_depth -min_bytes -min_peak_bytes -min_residual_bytes -min_output_bytes -min_micros "
    "-min_accelerator_micros -min_cpu_micros -min_params -min_float_ops -min_occurrence -step "
    "-order_by -account_type_regexes -start_name_regexes -trim_name_regexes -show_name_regexes "
    "-hide_name_regexes -account_displayed_op_only -select -output"
)


def test_options_are_in_the_order_of_the_report():
    reported = [option.name for option in OPTIONS if not option.is_ours]
    assert " ".join(f"-{name}" for name in reported) == REPORT_ORDER


def test_choices():
    assert " ".join(ORDER_BY) == (
        "auto name bytes peak_bytes residual_bytes output_bytes micros accelerator_micros "
        "cpu_micros params float_ops occurrence"
    )
    assert " ".join(SELECT) == (
        "auto bytes micros params float_ops tensor_value device op_types occurrence input_shapes "
        "accelerator_micros cpu_micros peak_bytes residual_bytes output_bytes"
    )


def test_each_default_is_of_the_options_own_type():
    types = {"int": int, "bool": bool, "str": str, "list": list}
    for option in OPTIONS:
        assert type(option.default) is types[option.kind]
        assert type(option.builder_default) is types[option.kind]


def test_defaults_that_differ_between_dict_and_builder():
    differing = {o.name for o in OPTIONS if o.default != o.builder_default}
    assert differing == {
        "max_depth",
        "account_type_regexes",
        "start_name_regexes",
        "show_name_regexes",
        "select",
    }


def test_help_is_one_sentence_and_views_are_known():
    for option in OPTIONS:
        assert option.help.endswith(".")
        assert set(option.views) <= set(ALL_VIEWS)
    assert BY_NAME["min_occurrence"].views == ("scope", "graph", "op")
    assert BY_NAME["account_displayed_op_only"].views == ("scope", "graph", "op")

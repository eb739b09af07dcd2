"""Options of views as controls of a page, and back from the parameters of its address."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tfprof.core.text.metrics import METRIC_FORMS
from tfprof.errors import UsageError
from tfprof.options.lists import joined_list, split_list
from tfprof.options.spec import BY_NAME, OPTIONS, UNASKED, Option
from tfprof.ui.pages.document import Control

_NOT_ON_PAGES: Final = ("output",)
_MOST_LISTED: Final = 60
_LABELS: Final = {
    "max_depth": "Depth", "order_by": "Order by", "select": "Columns", "step": "Step",
    "account_type_regexes": "Count only types", "start_name_regexes": "Start at names",
    "trim_name_regexes": "Nothing below names", "show_name_regexes": "Show names",
    "hide_name_regexes": "Hide names", "account_displayed_op_only": "Count only shown rows",
    "static_float_ops": "Float operations by the graph",
}  # fmt: skip
_ELSEWHERE: Final = {
    "max_rows": "a file that the command of this view writes with --max_rows 0",
    "run_meta_path": "open its file, too",
}  # fmt: skip
_GROUPS: Final = {
    "step": "", "order_by": "", "select": "Columns", "static_float_ops": "Columns",
    "account_type_regexes": "Account", "account_displayed_op_only": "Account",
}  # fmt: skip
_TITLES: Final = {metric.select: metric.title for metric in METRIC_FORMS}
_ORDER: Final = ("", "Filter", "Account", "Columns")
_STEPS: Final = re.compile(r"[\d,\- ]+")


def options_of(params: Mapping[str, str], select: Sequence[str]) -> tuple[dict[str, Any], str]:
    """An options dict from the parameters of an address.

    Args:
        params: The parameters; others than options are ignored.
        select: Attributes to show if none are chosen.

    Returns:
        The options, and a remark; empty if there is none.

    Raises:
        UsageError: A number is invalid.
    """
    options: dict[str, Any] = {**UNASKED, "select": list(select), "output": "none"}
    remark = ""
    for option in _options():
        text = params.get(option.name, "")
        if text == "":
            continue
        if option.name == "step" and not text.isdigit() and _STEPS.fullmatch(text):
            if text != "-1":
                remark = (
                    f"A view shows one step or the average of all steps; step={text} is several, "
                    "so this is the average."
                )
            continue
        options[option.name] = _value(option, text)
    return options, remark


def _options() -> list[Option]:
    return [option for option in OPTIONS if option.name not in _NOT_ON_PAGES]


def _value(option: Option, text: str) -> Any:
    if option.kind == "int":
        try:
            return int(text)
        except ValueError:
            raise UsageError(f"option {option.name}={text[:30]!r} must be an integer") from None
    if option.kind == "bool":
        return text.lower() in ("1", "true")
    return split_list([text]) if option.kind == "list" else text


def option_controls(
    kind: str, params: Mapping[str, str], select: Sequence[str], steps: Sequence[int]
) -> list[Control]:
    """Every option of a view, with its value in the address, valid or not.

    Args:
        kind: Kind of the view.
        params: The parameters of the address.
        select: Attributes that are shown if none are chosen.
        steps: The steps that there are.
    """
    defaults = {**UNASKED, "select": list(select)}
    controls = [
        _control(option, params, defaults[option.name], steps)
        for option in _options()
        if kind in option.views and not (option.name == "step" and len(steps) < 2)
    ]
    return sorted(controls, key=lambda control: _ORDER.index(control.group))


def _control(
    option: Option, params: Mapping[str, str], default: Any, steps: Sequence[int]
) -> Control:
    label = _label(option.name)
    group = _GROUPS.get(option.name, "Filter")
    about = f"{option.name}: {option.help}"
    text = params.get(option.name)
    if option.name == "step" and len(steps) <= _MOST_LISTED:
        choices = [("", "average of all"), *((str(step), str(step)) for step in steps)]
        return Control("step", label, "choice", text or "", "", choices, about, group=group)
    if option.kind == "bool":
        value = (text or "").lower() in ("1", "true")
        return Control(option.name, label, "bool", value, default, (), about, group=group)
    if option.kind == "list":
        whole = joined_list(default)
        chosen = text or whole
        if option.choices:
            names = [(name, _title(name)) for name in option.choices if name != "auto"]
            return Control(
                option.name, label, "list", chosen.split(","), whole.split(","), names, about,
                group=group,
            )  # fmt: skip
        return Control(option.name, label, "text", chosen, whole, (), about, group=group)
    if option.choices:
        names = [(name, _title(name)) for name in option.choices]
        return Control(
            option.name, label, "choice", text or default, default, names, about, group=group
        )
    chosen = str(default) if text in (None, "") else str(text)
    return Control(
        option.name, label, "int" if option.kind == "int" else "text", chosen, default, (), about,
        option.unit, group,
    )  # fmt: skip


def on_page(name: str, value: str) -> str:
    """How to set an option on a page: by its control, such as “Order by: name”.

    For an option without a control, the answer names the file to open or to write.
    """
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    option = BY_NAME[name]
    shown = _title(value) if option.choices else value
    return f"“{': '.join(filter(None, [_label(name), shown]))}”"


def _label(name: str) -> str:
    return _LABELS.get(name) or _minimum_label(name)


def _minimum_label(name: str) -> str:
    return f"At least {_title(name.removeprefix('min_'))}"


def _title(attribute: str) -> str:
    """The label of an attribute, as in columns."""
    return _TITLES.get(attribute, attribute.replace("_", " "))

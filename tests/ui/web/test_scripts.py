import re
from importlib.resources import files

import pytest

from tfprof.ui.web.scripts import joined_script, static_text

MODULES = sorted(
    each.name for each in (files("tfprof.ui.web") / "static").iterdir() if each.name.endswith(".js")
)
TOP_LEVEL = re.compile(
    r"^(?:export )?(?:async )?(?:function\*? |class |const |let )(\w+|\{[^}]*\}|\[[^\]]*\])",
    re.MULTILINE,
)


def test_no_two_modules_define_the_same_name_so_that_their_texts_can_be_joined():
    homes = {}
    for module in MODULES:
        for name in TOP_LEVEL.findall(static_text(module)):
            assert name.isidentifier(), f"{module}: {name} at the top level, define one at a time"
            assert name not in homes, f"{name} is defined in {module} and in {homes[name]}"
            homes[name] = module


def test_the_joined_script_has_every_module_once_and_no_import():
    script = joined_script()
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    for module in set(MODULES) - {"tensorboard.js"}:  # only TensorBoard loads that one
        first = next(line for line in static_text(module).splitlines() if line.startswith("//"))
        assert script.count(first) == 1, module


@pytest.mark.parametrize("module", MODULES)
def test_modules_set_text_and_never_markup(module):
    text = static_text(module)
    for danger in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
    ):
        assert danger not in text

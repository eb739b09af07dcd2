import re
from importlib.resources import files

import pytest

from tfprof.ui.web.scripts import joined_script, static_text

MODULES = sorted(
    each.name for each in (files("tfprof.ui.web") / "static").iterdir() if each.name.endswith(".js")
)


def test_the_joined_script_has_every_module_once_and_no_import():
    script = joined_script()
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    for module in set(MODULES) - {"tensorboard.js"}:  # only TensorBoard loads that one
        assert script.count(f"const ${module.removesuffix('.js')} = (() => {{") == 1, module


def test_the_joined_script_has_all_lines_but_those_of_comments():
    kept = re.sub(r"^ *(//.*|/\*\*.*| \*.*)\n", "", static_text("dom.js"), flags=re.MULTILINE)
    text = joined_script("dom.js")
    assert "//" not in text.replace("http://", "") and "/*" not in text
    for line in kept.splitlines():
        assert line.removeprefix("export ") in text or line.startswith("import ")


def test_a_joined_module_has_its_names_for_itself_and_takes_others_from_their_modules():
    script = joined_script("sunburst.js")
    inner, outer = script.index("const $forest = (() => {"), script.index("const $sunburst = ")
    assert inner < outer < script.index("const { cellOf } = $forest;")
    assert script.endswith("return { sunburstCells };\n})();\n")


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

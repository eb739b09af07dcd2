"""Rules of accessible pages, by axe."""

from importlib.resources import files

import pytest


def broken_rules(page, pages):
    """What axe finds on pages: by page, with the first element of each rule.

    In the dark only colours are others. Of tables the first rows tell all.
    """
    pytest.importorskip("axe_core_python")
    script = (files("axe_core_python") / "axe.min.js").read_text("utf-8")
    # Evaluated by the debugger, which no content policy concerns.
    page.tab.evaluate(script)
    broken = {}
    for name in pages:
        page.go(name)
        for scheme, rules in (("light", None), ("dark", ["color-contrast"])):
            page.tab.emulate_media(color_scheme=scheme)
            found = page.tab.evaluate(_AXE, rules)
            if found:
                broken[f"{name}, {scheme}"] = [
                    (
                        rule["id"],
                        rule["nodes"][0]["html"][:120],
                        rule["nodes"][0]["failureSummary"][:200],
                    )
                    for rule in found
                ]
        page.tab.emulate_media(color_scheme="light")
    return broken


_AXE = """async (rules) => (await axe.run({ exclude: ["tbody tr:nth-child(n+6)"] }, {
  resultTypes: ["violations"], ...(rules ? { runOnly: { type: "rule", values: rules } } : {}),
})).violations"""

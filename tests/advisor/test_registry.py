import sys

import pytest

import tfprof
from tfprof.advisor.advice import run_checkers
from tfprof.advisor.classic import CLASSIC_CHECKERS
from tfprof.advisor.registry import BUILT_IN, BY_DEFAULT, select_checkers
from tfprof.core.columns.findings import Finding
from tfprof.testing.builders import op

from .checking import context


def shouting(context):
    return [Finding("shouting", "info", "Hello.", {})]


class Counting:
    def __call__(self, context):
        return [Finding("Counting", "info", f"{len(context.profile.ops)} ops.", {})]


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package with checkers: a module, and lines ``name = module:object``."""

    def install(package, source, *lines):
        folder = tmp_path / package
        info = folder / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("\n".join(["[tfprof.checkers]", *lines, ""]))
        (folder / f"{package}_checks.py").write_text(source)
        monkeypatch.syspath_prepend(str(folder))

    yield install
    for name in [name for name in sys.modules if name.endswith("_checks")]:
        del sys.modules[name]


GOOD = """
from tfprof.core.columns.findings import Finding
def check(context):
    return [Finding("Good", "info", "From a package.", {})]
"""


def messages(wanted=None):
    findings = run_checkers(context([op("a")]), select_checkers(wanted))
    return {name: [finding.message for finding in found] for name, found in findings.items()}


def test_the_originals_checkers_are_among_ours_and_come_first():
    assert list(BUILT_IN)[:4] == sorted([*CLASSIC_CHECKERS, "JobChecker"])


def test_all_that_can_find_something_by_default_in_a_fixed_order():
    assert list(select_checkers(None)) == list(BY_DEFAULT)
    assert list(BY_DEFAULT) == [name for name in BUILT_IN if name != "JobChecker"]


@pytest.mark.parametrize(
    "wanted",
    [
        ["OperationChecker", "ExpensiveOperationChecker"],
        ("OperationChecker", "ExpensiveOperationChecker", "OperationChecker"),
        {"OperationChecker": {}, "ExpensiveOperationChecker": {"x": "y"}},
        iter(["OperationChecker", "ExpensiveOperationChecker"]),
    ],
)
def test_names_in_any_form_run_in_the_fixed_order(wanted):
    assert list(select_checkers(wanted)) == ["ExpensiveOperationChecker", "OperationChecker"]


def test_one_name_and_none():
    assert list(select_checkers("JobChecker")) == ["JobChecker"]
    assert select_checkers([]) == select_checkers({}) == {}


@pytest.mark.parametrize("wanted", ["Nonsense", ["JobChecker", "Nonsense"], {"Nonsense": {}}])
def test_an_unknown_name_is_refused(wanted):
    with pytest.raises(tfprof.UsageError, match=r"'Nonsense'\. Allowed: AcceleratorUtil"):
        select_checkers(wanted)


@pytest.mark.parametrize("wanted", [7, [7], [None]])
def test_what_is_neither_name_nor_callable_is_refused(wanted):
    with pytest.raises(tfprof.UsageError, match="is not a checker"):
        select_checkers(wanted)


def test_functions_classes_and_objects_are_checkers():
    assert messages([Counting, "JobChecker", shouting]) == {
        "JobChecker": messages("JobChecker")["JobChecker"],
        "Counting": ["1 ops."],
        "shouting": ["Hello."],
    }
    assert messages([Counting()]) == {"Counting": ["1 ops."]}
    assert messages(shouting) == {"shouting": ["Hello."]}


def test_two_of_one_name_are_refused():
    def impostor(context):
        return []

    impostor.__name__ = "JobChecker"
    for wanted in ([impostor], [shouting, shouting]):
        with pytest.raises(tfprof.UsageError, match="two checkers are called"):
            select_checkers(wanted)


def test_an_error_in_a_callable_is_the_callers():
    def broken(context):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        messages([broken])


def test_packages_bring_checkers(install):
    install("good", GOOD, "Good = good_checks:check")
    assert list(select_checkers(None)) == [*BY_DEFAULT, "Good"]
    assert messages(["Good"]) == {"Good": ["From a package."]}
    assert "Good" not in select_checkers(["JobChecker"])
    with pytest.raises(tfprof.UsageError, match=r"StragglerChecker, Good$"):
        select_checkers("Nonsense")


def test_a_package_is_loaded_when_its_checker_runs(install):
    install("good", GOOD, "Good = good_checks:check")
    select_checkers(None)
    assert "good_checks" not in sys.modules
    messages("Good")
    assert "good_checks" in sys.modules


@pytest.mark.parametrize(
    ("source", "target", "error"),
    [
        ("import nowhere_to_be_found", "bad_checks:check", "ModuleNotFoundError: No module"),
        ("", "bad_checks:check", "AttributeError"),
        ("check = 7", "bad_checks:check", "UsageError: 7 is not a checker"),
        ("def check(context): return 1 / 0", "bad_checks:check", "ZeroDivisionError"),
        ("def check(context): return ['x']", "bad_checks:check", "it returned 'x', which is not"),
        ("def check(context): return None", "bad_checks:check", "TypeError"),
    ],
)
def test_a_broken_package_becomes_a_finding(install, source, target, error):
    install("bad", source, f"Bad = {target}")
    findings = run_checkers(context([op("a")]), select_checkers(["Bad", "OperationChecker"]))
    assert findings["OperationChecker"] == []
    (finding,) = findings["Bad"]
    assert (finding.rule, finding.severity) == ("Bad", "warning")
    assert finding.message.startswith("The checker 'Bad' (bad, bad_checks:check) failed: ")
    assert error in finding.message


def test_a_package_can_not_replace_ours_nor_another_ones(install):
    install("thief", GOOD, "JobChecker = thief_checks:check")
    with pytest.raises(tfprof.UsageError, match=r"thief.*'JobChecker'.*tfprof itself"):
        select_checkers(None)
    assert list(select_checkers("OperationChecker")) == ["OperationChecker"]


def test_two_packages_can_not_share_a_name(install):
    install("one", GOOD, "Good = one_checks:check")
    install("two", GOOD, "Good = two_checks:check")
    with pytest.raises(tfprof.UsageError, match="'Good', and so does"):
        select_checkers(None)

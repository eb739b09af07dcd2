"""``advise`` and ``findings``, from the public side."""

import pytest

import tfprof
from tfprof.advisor.classic import CLASSIC_CHECKERS
from tfprof.advisor.registry import BY_DEFAULT
from tfprof.core.columns.findings import Finding
from tfprof.testing.builders import graph, op, run

from .checking import assert_explained

NODES = [op("net/BatchNorm/Rsqrt", "Rsqrt"), op("mm", "MatMul")]


def advice(classic=False):
    profiler = tfprof.Profiler(graph(*NODES), classic=classic)
    profiler.add_step(0, run({"net/BatchNorm/Rsqrt": 100, "mm": 300}))
    return profiler


@pytest.fixture(scope="module")
def demo():
    files = tfprof.demo_files()
    profiler = tfprof.Profiler(files.graph, files.op_log, classic=False)
    profiler.add_step(0, files.run_meta)
    return profiler


def test_all_checkers_run_by_default_in_a_fixed_order(capsys):
    result = tfprof.advise(graph(op("a")))
    assert sorted(result.checkers) == sorted(BY_DEFAULT)
    printed = capsys.readouterr().out
    assert [line[:-1] for line in printed.splitlines() if line[:-1] in BY_DEFAULT] == list(
        BY_DEFAULT
    )


def test_the_argument_may_have_tensorflows_name():
    chosen = {"OperationChecker": {}}
    profiler = tfprof.Profiler(graph(op("a")))
    assert list(profiler.advise(options=chosen).checkers) == list(chosen)
    assert list(tfprof.advise(graph(op("a")), options=chosen).checkers) == list(chosen)
    assert len(tfprof.advise(graph(op("a")), options=0).checkers) == len(BY_DEFAULT)
    with pytest.raises(tfprof.UsageError, match="not both"):
        profiler.advise(chosen, options=chosen)


def test_in_classic_mode_those_of_the_original(capsys):
    assert sorted(tfprof.advise(graph(op("a")), classic=True).checkers) == list(CLASSIC_CHECKERS)
    assert capsys.readouterr().out == "".join(f"\n{name}:\n" for name in CLASSIC_CHECKERS)


def test_the_reports_are_the_texts_of_the_findings(capsys):
    profiler = advice()
    result = profiler.advise(["OperationChecker", "InputBoundChecker"])
    (finding,) = profiler.findings(["OperationChecker", "InputBoundChecker"])
    assert list(result.checkers["OperationChecker"].reports) == [finding.text]
    assert list(result.checkers["InputBoundChecker"].reports) == []
    assert capsys.readouterr().out == (
        f"\nOperationChecker:\n{finding.text}\n\nInputBoundChecker:\n"
    )


def test_findings_are_objects_and_nothing_is_printed(capsys):
    findings = advice().findings()
    assert {type(finding) for finding in findings} == {tfprof.Finding} == {Finding}
    rules = [finding.rule for finding in findings]
    assert rules == sorted(rules, key=list(BY_DEFAULT).index)
    assert capsys.readouterr().out == ""


def test_own_checkers():
    def chatty(context):
        return [Finding("chatty", "info", f"{len(context.profile.ops)} ops", {"op_count": 2})]

    profiler = advice()
    assert list(profiler.advise([chatty]).checkers["chatty"].reports) == ["2 ops"]
    assert profiler.findings([chatty]) == [Finding("chatty", "info", "2 ops", {"op_count": 2})]


def test_what_comes_later_is_checked_too():
    profiler = advice()
    before = profiler.findings("ExpensiveOperationChecker")
    profiler.add_step(0, run({"mm": 700}))
    after = profiler.findings("ExpensiveOperationChecker")
    assert (before[0].evidence["total_micros"], after[0].evidence["total_micros"]) == (400, 1100)


def test_classic_mode_has_no_findings():
    with pytest.raises(tfprof.UsageError, match="use advise"):
        advice(classic=True).findings()


def test_classic_mode_passes_over_what_the_original_does_not_know():
    profiler = advice(classic=True)
    assert list(profiler.advise("OperationChecker").checkers) == ["OperationChecker"]
    with pytest.warns(tfprof.TfprofWarning, match=r"'StragglerChecker'.*in classic mode"):
        assert not profiler.advise({"StragglerChecker": {}}).checkers


def test_an_unknown_checker_is_named():
    with pytest.raises(tfprof.UsageError, match=r"'Nonsense'\. Allowed: Accelerator"):
        advice().advise({"Nonsense": {}})
    with pytest.warns(tfprof.TfprofWarning, match="Nonsense") as caught:
        assert not advice(classic=True).advise(["Nonsense"]).checkers
    assert caught[0].filename == __file__


def test_the_job_checker_is_taken_and_has_nothing_to_check():
    (report,) = advice().advise({"JobChecker": {}}).checkers["JobChecker"].reports
    assert "no job to check" in report
    assert not advice(classic=True).advise({"JobChecker": {}}).checkers


def test_compat_reads_its_options_as_tensorflow_does():
    from tfprof.compat import v1

    assert sorted(v1.advise(graph(op("a"))).checkers) == list(CLASSIC_CHECKERS)
    assert not v1.advise(graph(op("a")), options={}).checkers
    assert not v1.advise(graph(op("a")), options=None).checkers
    assert list(v1.advise(graph(op("a")), options={"OperationChecker": {}}).checkers) == [
        "OperationChecker"
    ]


def test_a_number_in_place_of_a_list_of_checkers_is_refused():
    every = sorted(tfprof.advise(graph(op("a")), checkers=0).checkers)  # TensorFlow's default
    assert every == sorted(BY_DEFAULT)
    with pytest.raises(tfprof.UsageError, match="checkers=7 must be"):
        tfprof.advise(graph(op("a")), checkers=7)


def test_the_recorded_step_raises_no_alarm(demo):
    findings = demo.findings()
    assert {(finding.rule, finding.severity) for finding in findings} == {
        ("ExpensiveOperationChecker", "info"),
        ("PeakMemoryChecker", "info"),
    }
    for finding in findings:
        assert_explained(finding)
        assert finding.location is None or finding.location.file == "resnet50/train.py"


def test_library_frames_of_the_recorded_step(demo):
    (*_, lines) = demo.findings("ExpensiveOperationChecker", show_library_frames=True)
    assert lines.location.file.startswith("tensorflow/python/")


def test_the_same_profile_gives_the_same_findings(demo):
    assert demo.findings() == demo.findings()

"""The modules whose numbers or sentences a user acts upon, and the tests that protect them."""

_OF_FACTS = tuple(
    f"tests/captures/facts/test_{name}.py"
    for name in ("between_steps", "bottleneck", "slow_hosts", "step_claims")
)
_OF_HANGS = tuple(
    f"tests/remote/hangs/test_{name}.py"
    for name in ("collectives", "excuses", "naming", "progress")
)
_OF_HISTORIES = tuple(
    f"tests/insight/history/test_{name}.py" for name in ("answer", "change_points", "gate")
)
_OF_STEPS = (
    *(
        f"tests/captures/events/test_{name}.py"
        for name in ("account", "cover", "runs", "step_times")
    ),
    *(f"tests/captures/facts/test_{name}.py" for name in ("between_steps", "run_steps")),
)
_OF_RECORDERS = tuple(
    f"tests/remote/flight/test_{name}.py" for name in ("budget", "conditions", "history", "parts")
)
"""Neither tests that wait for other programs, nor those of files, which DuckDB reads."""

_TESTS_OF = {
    # Whether a limit holds, and with which exit code a build ends.
    ("tests/insight/budgets",): """
        insight/budgets: budget capture_metrics check first_budget key_figures measure measurement
        insight/budgets: metrics profile_metrics quantities static_metrics subject
    """,
    # Whether a change stands out from noise, and what it comes from.
    ("tests/insight/diff",): """
        insight/diff: comparable difference noise parts sentence shared_time
    """,
    # Since when a job is slower, and whether that fails a build.
    _OF_HISTORIES: """
        insight/history: change_points changes gate series
    """,
    # How much time a change would save.
    ("tests/insight/whatif",): """
        insight/whatif: answer chosen host launched longest marks regular unknown waits windows
    """,
    # Which rank the others wait for, and whether a job hangs at all.
    _OF_HANGS: """
        remote/hangs: collectives excuses naming progress
    """,
    # When a flight recorder writes, and what recording costs.
    _OF_RECORDERS: """
        remote/flight: budget conditions history limits overhead pacing
    """,
    # What limits a profiled program, and what to do.
    ("tests/advisor",): """
        advisor: constants context copies cpu_placement expensive gpu_time input_bound operations
        advisor: peak_memory small_ops stragglers tensor_cores
    """,
    # What limits a captured program, by how much, and what to do.
    _OF_FACTS: """
        captures/facts: between_steps bottleneck slow_hosts slow_once verdict
    """,
    ("tests/captures/tools/test_utilization.py", "tests/captures/facts/test_model_flops.py"): """
        captures/facts: utilization
    """,
    ("tests/captures/practices",): """
        captures/practices: code_practices evidence input_practices memory_practices op_practices
        captures/practices: step_practices
    """,
    # Where steps begin and end, and how they spend their time.
    _OF_STEPS: """
        captures/events/steps: account step_times
    """,
}

DECIDING = {
    tests: tuple(
        f"tfprof/{folder.strip()}/{name}.py"
        for line in lines.split("\n")
        if line.strip()
        for folder, names in [line.split(":")]
        for name in names.split()
    )
    for tests, lines in _TESTS_OF.items()
}
"""Files of modules, by the folders of their tests."""

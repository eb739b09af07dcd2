"""Advice from plans of compiled programs: arguments that are there twice, and full devices."""

import pytest

from tests.hlo_programs import capture
from tfprof.captures.practices.findings import capture_findings, subject_of
from tfprof.captures.run.run import open_run
from tfprof.testing.xspace_builders import event, host, line

pytestmark = [pytest.mark.jax, pytest.mark.one_engine]

N = 1024


def transposing(w, x):
    import jax
    import jax.numpy as jnp

    w = w.T
    return jax.lax.fori_loop(0, 8, lambda _, x: jnp.tanh(x @ w), x)


def run_of(n, *events, ran=True, n_hosts=1):
    import jax
    import jax.numpy as jnp

    from tests.captures.hlo.compiled_by_jax import Compiled

    proto = Compiled(jax.jit(transposing), jnp.ones((n, n)), jnp.ones((8, n))).proto
    spaces = []
    for number in range(n_hosts):
        space = capture(proto)
        space.hostnames[:] = [f"host{number}"]
        if ran:
            stats = {"hlo_module": proto.hlo_module.name, "program_id": 1}
            ran_op = event("while.5", 0, 90, hlo_op="while.5", **stats)
            space.planes.append(host(line(ran_op, *events)))
        spaces.append(space)
    return open_run(spaces)


def allocated(used, free):
    """The state of an allocator."""
    return event(
        "MemoryAllocation", 100, 1, allocator_name="GPU_0_bfc", bytes_reserved=0,
        bytes_allocated=used, bytes_available=free, peak_bytes_in_use=used, addr=1,
        requested_bytes=used, allocation_bytes=used, fragmentation=0.0,
    )  # fmt: skip


def found(run):
    return capture_findings(run, ["memory/duplicate"])


def test_a_transposed_argument_is_named_with_its_bytes_and_its_line():
    [finding] = found(run_of(N))
    place = f"{__file__}:{transposing.__code__.co_firstlineno + 4}"
    assert "keeps a transposed copy of its argument w in memory at its peak, 4.19 MB" in str(
        finding
    )
    assert f"beside 4.19 MB, made for {place}. If nothing else uses" in finding.message
    assert finding.evidence["copy_bytes"] == 4 * N * N
    assert subject_of(finding.rule).tool == "memory-viewer"


def test_hosts_that_run_the_same_program_have_one_finding():
    assert [one.message for one in found(run_of(N, n_hosts=2))] == [
        one.message for one in found(run_of(N))
    ]


def test_programs_that_did_not_run_and_small_copies_are_left_out():
    assert found(run_of(N, ran=False)) == []
    assert found(run_of(64)) == []


def test_a_full_device_leads_to_the_program_with_the_largest_plan():
    [finding] = capture_findings(run_of(N, allocated(900, 100)), ["memory/capacity"])
    assert finding.evidence["program_bytes"] >= 8 * N * N
    assert finding.evidence["saving_bytes"] > 0
    assert "The program with the largest plan, jit_transposing(1), needs 8." in finding.message
    assert "tfprof memory-viewer has what would free at most" in finding.message
    assert "(jax.checkpoint)" in finding.message
    assert capture_findings(run_of(N, allocated(800, 200)), ["memory/capacity"]) == []

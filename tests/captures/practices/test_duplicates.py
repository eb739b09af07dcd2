"""Advice on arguments that a compiled program keeps twice in memory."""

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


def run_of(n, *, ran=True, n_hosts=1):
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
            space.planes.append(host(line(event("while.5", 0, 90, hlo_op="while.5", **stats))))
        spaces.append(space)
    return open_run(spaces)


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

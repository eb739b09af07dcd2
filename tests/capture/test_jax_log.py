"""JAX's log of compilations in a file, as long as a block runs."""

import logging

import pytest

import tfprof
from tfprof.captures.read.jax_log import read_jax_log
from tfprof.errors import InputError

pytestmark = pytest.mark.jax


@pytest.fixture
def jax():
    return pytest.importorskip("jax")


def state(jax):
    log = logging.getLogger("jax")
    options = (jax.config.jax_log_compiles, jax.config.jax_explain_cache_misses)
    return options, log.level, list(log.handlers)


def test_what_is_compiled_in_the_block_is_in_the_file(jax, tmp_path):
    np = pytest.importorskip("numpy")
    before = state(jax)
    tripled = jax.jit(lambda batch: batch * 3)
    tripled(np.ones(4, np.float32))
    with tfprof.capture.jax_log(tmp_path / "a.log"):
        tripled(np.ones(4, np.float32))  # has been compiled before
        tripled(np.ones(5, np.float32))
    tripled(np.ones(6, np.float32))
    [found] = read_jax_log((tmp_path / "a.log").read_text("utf-8"))
    assert found.name == "<lambda>"
    assert found.kind == "types of arguments"
    assert state(jax) == before


def test_everything_is_set_back_after_an_error(jax, tmp_path):
    logging.getLogger("jax").setLevel(logging.ERROR)
    before = state(jax)
    with pytest.raises(ZeroDivisionError), tfprof.capture.jax_log(tmp_path / "a.log"):
        assert logging.getLogger("jax").level == logging.WARNING
        1 / 0  # noqa: B018
    assert state(jax) == before
    logging.getLogger("jax").setLevel(logging.NOTSET)


def test_a_file_that_cannot_be_written(jax, tmp_path):
    before = state(jax)
    with (
        pytest.raises(InputError, match=r"nosuch.*cannot be written"),
        tfprof.capture.jax_log(tmp_path / "nosuch" / "a.log"),
    ):
        pass
    assert state(jax) == before

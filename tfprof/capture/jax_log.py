"""JAX's log of compilations in a file, for ``tfprof compiles --log``, while a block runs."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator

from tfprof.errors import InputError, UsageError

_OPTIONS = ("jax_log_compiles", "jax_explain_cache_misses")


@contextlib.contextmanager
def jax_log(path: str | os.PathLike[str]) -> Iterator[None]:
    """Write why JAX traces and compiles, and for how long, to a file while a block runs.

    It sets two options of JAX, which are those of the whole process, and afterwards sets them back.

        with tfprof.capture.jax_log("train.log"), tfprof.capture("logs"):
            train()

    Args:
        path: The file, which is written anew.

    Raises:
        UsageError: JAX is not installed.
        InputError: The file cannot be written.
    """
    try:
        import jax
    except ImportError as error:
        raise UsageError(f"jax_log needs JAX, which cannot be imported: {error}") from error
    try:
        handler = logging.FileHandler(path, "w", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot be written: {error.strerror}") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    before = {name: getattr(jax.config, name) for name in _OPTIONS}
    log = logging.getLogger("jax")
    level = log.level
    if log.getEffectiveLevel() > logging.WARNING:
        log.setLevel(logging.WARNING)
    log.addHandler(handler)
    try:
        for name in _OPTIONS:
            jax.config.update(name, True)
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        log.removeHandler(handler)
        log.setLevel(level)
        handler.close()

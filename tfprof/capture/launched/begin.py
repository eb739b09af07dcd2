"""Begins to profile this process, when it imports TensorFlow, JAX or Keras."""

from __future__ import annotations

import os
import sys

from tfprof.capture.launched.captures import Captures
from tfprof.capture.launched.messages import Launch
from tfprof.capture.launched.spec import VARIABLE, spec_of
from tfprof.errors import UsageError

_LAUNCH = "TFPROF_RUN_LAUNCH"


class _Process:
    """The captures of this process: frameworks and their profilers are the process's, too."""

    captures: Captures | None = None
    is_off = False


def imported(name: str) -> None:
    """A framework, or Keras, has just been imported; each name comes once.

    Raises:
        Exception: Whatever may fail; the caller reports it, and the program goes on.
    """
    if _Process.is_off:
        return
    if _Process.captures is None:
        run, journal, pid, here = os.environ[_LAUNCH].split(";", 3)
        try:
            spec = spec_of(os.environ.get(VARIABLE, ""), here)
        except UsageError as error:
            _Process.is_off = True
            [said, *_] = str(error).splitlines()
            sys.stderr.write(f"tfprof run: {VARIABLE} is wrong, so nothing is captured: {said}\n")
            return
        _Process.captures = Captures(spec, Launch(spec.run or run, journal, int(pid)))
    captures = _Process.captures
    if name in ("tensorflow", "jax"):
        captures.begin(name)
    if name == "tensorflow":
        from tfprof.capture.launched.tensorflow_calls import follow_tensorflow

        follow_tensorflow(captures)
    elif name == "jax":
        from tfprof.capture.launched.jax_calls import follow_jax

        follow_jax(captures)
    elif name == "keras":
        from tfprof.capture.launched.keras_fits import follow_keras

        follow_keras(captures)

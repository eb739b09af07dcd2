"""Records terms, all of one kind of process: ``python -m tests.truth.gym.run FOLDER TERMS.json``.

``TERMS.json`` maps names to terms; each gets a folder of its name with its capture and its truth.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from tests.truth.gym.clock import Diary
from tests.truth.gym.grammar import Term, from_json
from tests.truth.own_clock import FAILURE

ENVIRONMENT = {
    "tensorflow": {},
    "jax": {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"},
    "keras_tensorflow": {"KERAS_BACKEND": "tensorflow"},
    "keras_jax": {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"},
    "tensorflow_together": {},
    "jax_together": {"JAX_PLATFORMS": "cpu", "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo"},
}
"""Variables of each kind of process, before it imports anything."""

RANK, ADDRESSES = "TFPROF_GYM_RANK", "TFPROF_GYM_ADDRESSES"
"""Variables of processes that train together: the number of each, and where all listen."""


def rank() -> int:
    """The number of this process among those that train together."""
    return int(os.environ.get(RANK, "0"))


def addresses() -> list[str]:
    """Where the processes that train together listen; none for a process of its own."""
    return os.environ.get(ADDRESSES, "").split()


def framework(term: Term) -> Any:
    """The module that has the marks and the profiler of a term's framework."""
    is_jax = "jax" in (term.framework, term.backend)
    return importlib.import_module(f"tests.truth.gym.of_{'jax' if is_jax else 'tensorflow'}")


def record(folder: Path, term: Term) -> None:
    """Records one; that it failed is written down, and stops no other."""
    folder.mkdir(parents=True)
    (folder / "term.json").write_text(term.to_json(), "utf-8")
    try:
        own = framework(term)
        clock = Diary(folder, lambda path: own.capture(path, term))
        of_keras = term.framework == "keras"
        name = "tests.truth.gym.of_keras" if of_keras else own.__name__
        importlib.import_module(name).record(term, clock)
        clock.write()
    except Exception:
        (folder / FAILURE).write_text(traceback.format_exc(), "utf-8")


def main() -> None:
    """Records all terms of a file."""
    folder, terms = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text("utf-8"))
    wanted = {name: from_json(json.dumps(term)) for name, term in terms.items()}
    if any(term.devices == "mirrored" for term in wanted.values()):
        _make_devices()
    for name, term in wanted.items():
        begin = time.perf_counter()
        record(folder / (f"{name}.{rank()}" if rank() else name), term)
        print(f"{name}: {time.perf_counter() - begin:.2f} s", flush=True)


def _make_devices() -> None:
    import tensorflow as tf

    from tests.truth.gym.of_tensorflow import N_DEVICES

    cpu = tf.config.list_physical_devices("CPU")[0]
    virtual = [tf.config.LogicalDeviceConfiguration() for _ in range(N_DEVICES)]
    tf.config.set_logical_device_configuration(cpu, virtual)


if __name__ == "__main__":
    assert os.environ.get("PYTHONPATH"), "started by tests.truth.gym.batch"
    main()

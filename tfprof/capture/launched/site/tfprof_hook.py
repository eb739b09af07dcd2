"""What ``tfprof run`` and ``TFPROF_RUN`` add to the start of an interpreter.

It imports nothing that an interpreter has not imported anyway, and waits for TensorFlow, JAX or
Keras: programs that import none of them pay a comparison for each of their imports. This file is
on no package, so that its import does not import the packages around it.
"""

import os
import sys

LAUNCH = "TFPROF_RUN_LAUNCH"
"""Name of the run, journal of the command, its process or the first one, and the first folder."""

_waiting = {"tensorflow", "jax", "keras", "tf_keras"}


class _Watch:
    """A finder of modules that finds none, and lets a framework be followed by the hook."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> object:
        """As the import system calls it."""
        if name not in _waiting:
            return None
        from typing import Any

        spec: Any = None
        finders: list[Any] = [*sys.meta_path]
        for finder in finders:
            if finder is not _Watch and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    break
        loader: Any = getattr(spec, "loader", None)

        def load(module: Any) -> None:
            vars(loader).pop("exec_module", None)
            loader.exec_module(module)
            # Not before: programs look for a spec only to see whether a package is there.
            if module.__name__ == name and name in _waiting:
                _waiting.discard(name)
                _begin(name)

        try:
            if hasattr(loader, "exec_module"):
                loader.exec_module = load
        except AttributeError:  # a loader of another kind
            pass
        return spec


def _begin(name: str) -> None:
    """Hand over to tfprof; a failure is one line, and the program goes on."""
    try:
        try:
            from tfprof.capture.launched.begin import imported
        except ModuleNotFoundError as error:
            if error.name != "tfprof":
                raise
            here = os.path.abspath(__file__)  # noqa: PTH100  # without importing pathlib
            for _ in range(5):  # of a checkout, or of another interpreter's packages
                here = os.path.dirname(here)  # noqa: PTH120
            sys.path.append(here)
            from tfprof.capture.launched.begin import imported
        imported(name)
    except Exception as error:
        _waiting.clear()
        remedy = "Please report this as a bug of tfprof"
        if isinstance(error, ImportError):
            remedy = f"Install tfprof for {sys.executable}"
        sys.stderr.write(
            f"tfprof run: process {os.getpid()} is not profiled: {type(error).__name__}: {error}. "
            f"{remedy}\n"
        )


def _launch() -> None:
    """Name the run for this process and its children, once."""
    if LAUNCH in os.environ:
        return
    import time

    name = time.strftime("%Y_%m_%d_%H_%M_%S")
    for job in ("SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"):
        value = os.environ.get(job, "")
        if value not in ("", "none"):
            step = os.environ.get("SLURM_STEP_ID", "") if job.startswith("SLURM") else ""
            name = "job_" + "_".join(filter(None, [value.replace("/", "_"), step]))
            break
    try:
        here = os.getcwd()  # noqa: PTH109
    except OSError:  # it was removed
        here = "/"
    os.environ[LAUNCH] = f"{name};;{os.getpid()};{here}"


if os.environ.get("TFPROF_RUN"):
    _launch()
    sys.meta_path.insert(0, _Watch)  # type: ignore[arg-type]
    for _name in list(_waiting):
        if _name in sys.modules:
            _waiting.discard(_name)
            _begin(_name)

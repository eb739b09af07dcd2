"""What holds for all tests: settings, and which of them need TensorFlow or JAX."""

import contextlib
import gc
import importlib.util
import os

import pytest
from hypothesis import HealthCheck, settings

from tfprof.testing import pytest_plugin as plugin

pytest_plugins = ["pytester"]

# A build should neither depend on the machine's speed nor fail one day in ten: the same examples
# every time. HYPOTHESIS_PROFILE=explore looks for others, and for more; emulated is for processors
# that a program imitates, many times slower.
settings.register_profile("tfprof", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.register_profile(
    "emulated", deadline=None, derandomize=True, max_examples=10,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "tfprof"))

# gRPC's servers of tests run in this process, and forks of it, which become programs in terminals,
# now and then die in gRPC's handler of forks before they begin.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

# Commands of tests answer anew; tests of the cache name a folder.
os.environ["TFPROF_CACHE"] = ""
# What was measured on this machine is in no answer to a test.
os.environ["TFPROF_PEAKS"] = ""


def pytest_configure(config: pytest.Config) -> None:
    """An installed tfprof brings its own plugin; a source tree names it."""
    if not config.pluginmanager.has_plugin("tfprof"):
        config.pluginmanager.register(plugin, "tfprof")
    # Tests in a row share what they have read: a worker takes the next ones from another late.
    if config.getoption("dist", "no") == "load":
        config.option.dist = "worksteal"


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Workers compile different modules first, and find those of the others compiled after that.

    pytest rewrites assertions, which takes longer than all else in collecting the tests. Workers
    begin together, and would each do it for the same module at the same time.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    root = session.config.rootpath
    places = [root / given.split("::")[0] for given in session.config.args]
    modules = {module for place in places for module in place.rglob("test_*.py")}
    for module in sorted(modules)[int(worker["workerid"][2:]) :: worker["workercount"]]:
        # What is wrong with a module is the business of the collection, which follows.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(module.relative_to(root).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """The garbage collector need not look at thousands of tests again and again."""
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where there is no TensorFlow or no JAX, skip what is marked as needing it."""
    for module, name in (("tensorflow", "TensorFlow"), ("jax", "JAX")):
        if importlib.util.find_spec(module) is None:
            skip = pytest.mark.skip(reason=f"needs {name}")
            for item in items:
                if item.get_closest_marker(module) is not None:
                    item.add_marker(skip)


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what tests compare with anew; read the difference",
    )

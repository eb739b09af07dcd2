"""Build entry: the native parts. All metadata lives in pyproject.toml.

The extensions are optional: without a C compiler the package installs all the same, and does with
Python what they do (``tfprof doctor`` says which). ``TFPROF_NATIVE=0`` leaves them out on purpose,
``1`` makes a failed build an error.
"""

import os
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

WANTED = os.environ.get("TFPROF_NATIVE", "")

FOLDER = Path("tfprof/core/wire/native")

INCLUDED = sorted(str(path) for path in FOLDER.glob("*.px[id]"))

SHARED = FOLDER / "memory_views.c"
"""Cython writes it: its code for arrays, once and not in each module, which compiles sooner."""

FLAGS = {} if os.name == "nt" else {SHARED: ["-O1", "-g0"]}
"""What is shared sets arrays up, and no loop over data is in it: little effort is enough."""

OTHERS = [] if os.name == "nt" else ["-O3", "-g0"]


def native_module(source):
    """How to build a module; all import what is shared."""
    package = ".".join(FOLDER.parts)
    module = Extension(
        f"{package}.{source.stem}",
        [str(source)],
        depends=INCLUDED,
        extra_compile_args=FLAGS.get(source, OTHERS),
        optional=WANTED != "1",
    )
    module.shared_utility_qualified_name = f"{package}.{SHARED.stem}"
    return module


NATIVE = [native_module(source) for source in (SHARED, *sorted(FOLDER.glob("*.pyx")))]


class BuildNative(build_ext):
    """Compiles on all processors, and says in one line what a failed build means."""

    def build_extensions(self):
        """Cython writes C in this process, one module after the other; compilers run at once."""
        try:
            from Cython.Build import cythonize

            for ext in self.extensions:
                name = ext.shared_utility_qualified_name
                (written,) = cythonize(ext, quiet=True, shared_utility_qualified_name=name)
                ext.sources = written.sources
        except Exception as error:
            if WANTED == "1":
                raise
            self.warn(f"Cython has not written the native readers: {error!r}")
        # Each process of a compiler has a thread that waits for it. setuptools prepares Microsoft's
        # compiler at its first use, which threads would do at the same time.
        self.parallel = self.parallel or (os.name != "nt")
        super().build_extensions()

    def build_extension(self, ext):
        """Build it, or go on without."""
        try:
            super().build_extension(ext)
        except Exception:
            if WANTED == "1":
                raise
            self.warn(
                "tfprof's native reader could not be built (is there a C compiler?); "
                "the pure Python reader will be used, which gives the same results more slowly"
            )


class BuildWithHook(build_py):
    """Puts the hook of ``tfprof run`` beside the package, where interpreters find it as they start.

    The line of the ``.pth`` file does nothing unless ``TFPROF_RUN`` is set. An editable install has
    none; there ``tfprof run`` brings the hook along.
    """

    HOOK = Path("tfprof/capture/launched/site/tfprof_hook.py")
    LINE = 'import os; os.environ.get("TFPROF_RUN") and __import__("tfprof_hook")\n'

    def run(self):
        """Copy the package, and the hook."""
        super().run()
        if not self.editable_mode:
            module, line = map(Path, self._beside())
            module.write_bytes(self.HOOK.read_bytes())
            line.write_text(self.LINE, "utf-8")

    def get_outputs(self, include_bytecode=True):
        """All files that are written."""
        beside = [] if self.editable_mode else self._beside()
        return [*super().get_outputs(include_bytecode), *beside]

    def _beside(self):
        return [str(Path(self.build_lib, f"tfprof_hook{end}")) for end in (".py", ".pth")]


setup(
    ext_modules=[] if WANTED == "0" else NATIVE,
    cmdclass={"build_ext": BuildNative, "build_py": BuildWithHook},
)

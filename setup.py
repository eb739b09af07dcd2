"""Build entry: the native parts. All metadata lives in pyproject.toml.

The extensions are optional: without a C compiler the package installs all the same, and does with
Python what they do (``tfprof doctor`` says which). ``TFPROF_NATIVE=0`` leaves them out on purpose,
``1`` makes a failed build an error.
"""

import os
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

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


setup(ext_modules=[] if WANTED == "0" else NATIVE, cmdclass={"build_ext": BuildNative})

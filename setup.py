"""Build entry: the native readers. All metadata lives in pyproject.toml.

The extensions are optional: without a C compiler the package installs all the same, and reads with
Python (``tfprof doctor`` says which). ``TFPROF_NATIVE=0`` leaves it out on purpose, ``1`` makes a
failed build an error.
"""

import os

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

WANTED = os.environ.get("TFPROF_NATIVE", "")

SCANNER = Extension(
    "tfprof._wire._scan_native",
    ["tfprof/_wire/_scan_native.pyx"],
    extra_compile_args=[] if os.name == "nt" else ["-O3"],
    optional=WANTED != "1",
)

WALKS = Extension(
    "tfprof._wire._xspace_native",
    ["tfprof/_wire/_xspace_native.pyx"],
    depends=["tfprof/_wire/_varints.pxi"],
    extra_compile_args=[] if os.name == "nt" else ["-O3"],
    optional=WANTED != "1",
)


class BuildNative(build_ext):
    """Says in one line what a failed build means."""

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


setup(ext_modules=[] if WANTED == "0" else [SCANNER, WALKS], cmdclass={"build_ext": BuildNative})

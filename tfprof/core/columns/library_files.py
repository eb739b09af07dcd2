"""Which recorded files are libraries', and not the user's."""

from __future__ import annotations

import re

_LIBRARY = re.compile(
    r"""
    (?:^|/)(?:site-packages|dist-packages)/
  | (?:^|/)lib/python\d+\.\d+/                  # the standard library
  | /python\d*/lib/                             # the same on Windows, C:\Python311\Lib
  | (?:^|/)tensorflow/(?:python|contrib|compiler|core|dtensor|lite|_api)/
  | (?:^|/)(?:keras|tf_keras)/src/
  | (?:^|/)(?:jax/_src|jaxlib)/
  | ^(?:tensorflow|tensorflow_estimator|keras|tf_keras|tf_slim)/   # recorded without a folder
  | ^<(?:frozen|attrs|decorator-gen|__array_function__)\b
  | __autograph_generated_file                  # a copy of a user's function, gone by now
    """,
    re.VERBOSE | re.IGNORECASE,
)


def is_library_file(file: str) -> bool:
    """Whether a recorded file belongs to Python, TensorFlow, Keras, JAX or an installed package.

    Code typed into a shell or a notebook (``<stdin>``, ``<ipython-input-…>``) is the user's.

    Example:
        >>> is_library_file("/usr/lib/python3.11/contextlib.py"), is_library_file("net/train.py")
        (True, False)
    """
    return _LIBRARY.search(file.replace("\\", "/")) is not None

"""Short names of C++ functions, without types, template arguments and parameters.

Compilers name kernels with every type of a template; two thousand characters are common, and only
the name of the function is useful.
"""

from __future__ import annotations

import re

_RETURN_TYPE = re.compile(r"^(?:void|bool|int|float|double|auto) ")
_LAST_WORD_BACKWARDS = re.compile(r"rotarepo(?:::\w+)?|[\w$]*[A-Za-z_~$]")
_MOST = 1 << 16
"""Number of characters to examine."""

_LONGEST = 80
"""Characters of a name in a sentence."""

_PAIRS = {"<": ">", "(": ")"}


def short_name(name: str) -> str:
    """The short name of a C++ function; every other name unchanged.

    >>> short_name("void tensorflow::functor::FillKernel<Eigen::half, 4>(Eigen::half*, long)")
    'FillKernel'
    >>> short_name("jit(train)/conv1/conv_general_dilated")
    'jit(train)/conv1/conv_general_dilated'
    """
    text = name[:_MOST]
    if "/" in text or not _is_function(text):
        return name
    bare = _outside_brackets(_RETURN_TYPE.sub("", text))
    # From its end, so that no text takes time that grows with the square of its length.
    word = _LAST_WORD_BACKWARDS.match(bare[::-1])
    return name if word is None else word[0][::-1]


def _is_function(text: str) -> bool:
    """Whether it looks like C++: a type before it, template arguments, or parameters."""
    angle, scope = text.find("<"), text.find("::")
    is_template = angle > 0 and text.find(">", angle) > 0
    has_parameters = scope >= 0 and "(" in text
    return is_template or has_parameters or _RETURN_TYPE.match(text) is not None


def _outside_brackets(text: str) -> str:
    """Up to the list of parameters, without template arguments."""
    kept: list[str] = []
    depth = 0
    for place, char in enumerate(text):
        if char == "(" and not depth and not text.startswith("(anonymous namespace)", place):
            break
        if char in _PAIRS:
            depth += 1
        elif char in _PAIRS.values():
            depth -= depth > 0
        elif not depth:
            kept.append(char)
    return "".join(kept).strip()


def folded(name: str) -> str:
    """A name for a sentence: that of a C++ function alone, without its middle if it is long.

    >>> folded("void Eigen::Assign<float>(float*)")
    'Assign'
    >>> len(folded("scope/" * 100))
    80
    """
    name, half = short_name(name), _LONGEST // 2
    return name if len(name) <= _LONGEST else f"{name[: half - 1]}…{name[-half:]}"

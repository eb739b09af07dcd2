"""Every exception that tfprof raises on purpose.

    TfprofError
    ├── UsageError               a wrong option or combination of options     exit 2
    ├── InputError
    │   ├── UnknownFormatError   the bytes have another format than expected   exit 3
    │   ├── MalformedProfileError  truncated or inconsistent bytes             exit 3
    │   └── EmptyProfileError    readable, but there is nothing to show        exit 4
    └── MissingDependencyError   an optional package is not installed          exit 5

A message says what failed with the real value, where, and what to do about it.
"""

from __future__ import annotations


class TfprofError(Exception):
    """Base of all exceptions raised by tfprof; ``exit_code`` is what the command line returns."""

    exit_code = 1


class UsageError(TfprofError, ValueError):
    """An option, an argument or a combination of them is wrong."""

    exit_code = 2


class InputError(TfprofError):
    """A graph, run metadata, op log or profile could not be used."""

    exit_code = 3


class UnknownFormatError(InputError):
    """The bytes have another format than the expected one, or one that tfprof does not know."""


class MalformedProfileError(InputError):
    """The bytes are truncated or contradict themselves."""


class EmptyProfileError(InputError):
    """The input is readable but holds nothing to show."""

    exit_code = 4


class MissingDependencyError(TfprofError, ImportError):
    """A package that this feature needs is not installed; the message names the extra."""

    exit_code = 5


class TfprofWarning(UserWarning):
    """A problem that does not stop the program, but that the caller should know about."""

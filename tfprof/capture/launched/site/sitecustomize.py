"""Starts the hook of ``tfprof run``, and then the ``sitecustomize`` that this one hides.

``tfprof run`` puts this folder on ``PYTHONPATH``, for interpreters whose tfprof came without a
``.pth`` file, such as that of a checkout.
"""

import sys

_here = __file__.rpartition("/")[0] or __file__.rpartition("\\")[0]


def _chain() -> None:
    own = sys.modules.pop("sitecustomize", None)
    places = sys.path[:]
    sys.path[:] = [place for place in places if place.rstrip("/\\") != _here]
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        if own is not None:
            sys.modules["sitecustomize"] = own
    finally:
        others = [place for place in sys.path if place not in places]
        sys.path[:] = [*others, *(place for place in places if place.rstrip("/\\") != _here)]


try:
    import tfprof_hook  # type: ignore[import-not-found]  # noqa: F401
finally:
    _chain()

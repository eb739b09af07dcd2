"""Every public name with its signature, as lines of text."""

import importlib
import importlib.util
import inspect
import re

MODULES = (
    "tfprof",
    "tfprof.capture",
    "tfprof.compat.model_analyzer",
    "tfprof.compat.pprof_profiler",
    "tfprof.compat.v1",
    "tfprof.doctor",
    "tfprof.errors",
    "tfprof.keras",
    "tfprof.remote",
    "tfprof.remote.flight",
    "tfprof.remote.metrics",
    "tfprof.sql",
    "tfprof.testing.builders",
    "tfprof.testing.xspace_builders",
    "tfprof.tools",
    "tfprof.trackers",
)


def public_lines():
    """``module.name(signature)`` of all that is public, methods and properties included."""
    for name in MODULES:
        if name == "tfprof.keras" and importlib.util.find_spec("keras") is None:
            continue  # its callback is a class of Keras
        module = importlib.import_module(name)
        for member in sorted(getattr(module, "__all__", None) or _own(module)):
            if member == "KerasCallback" and importlib.util.find_spec("keras") is None:
                continue
            yield from _lines(f"{name}.{member}", getattr(module, member))


def _own(module):
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def _lines(path, value):
    if not inspect.isclass(value):
        yield f"{path}{_signature(value)}" if callable(value) else path
        return
    yield f"{path}{_signature(value) if _is_made_by_ours(value) else ''}"
    for name in sorted(dir(value)):
        if name.startswith("_"):
            continue
        member = inspect.getattr_static(value, name)
        owner = next((base for base in value.__mro__ if name in vars(base)), value)
        if not (owner.__module__ or "").startswith("tfprof"):
            continue
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        yield f"{path}.{name}{_signature(member) if inspect.isfunction(member) else ''}"


def _is_made_by_ours(kind):
    """Whether a class says itself what makes it; else Python or protobuf does."""
    return any(
        (base.__module__ or "").startswith("tfprof") and {"__init__", "__new__"} & vars(base).keys()
        for base in kind.__mro__
    )


def _signature(value):
    """Parameters and defaults; types are for ``mypy``, and are spelt as modules happen to lie."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    bare = [
        each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()
    ]
    text = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return re.sub(r"<([\w.]+)[^>]*>", r"<\1>", text)

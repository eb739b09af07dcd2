"""Small captures of TPUs: times are microseconds."""

from tfprof.testing.xspace_builders import event, line, plane

US = 1_000_000
"""Picoseconds in a microsecond."""


def at(name, start, duration, **stats):
    """An event with times in microseconds."""
    return event(name, start * 1000, duration * 1000, **stats)


def op(name, category, start, duration, **stats):
    """A run of an instruction."""
    return at(name, start, duration, hlo_category=category, **stats)


def details(ordinal=0, core=0, chip=0, host=b""):
    """A serialized ``CoreDetails``; numbers below 128."""
    name = bytes([0x0A, len(host)]) + host if host else b""
    return name + bytes([0x10, ordinal, 0x18, core, 0x28, chip])


def tpu(number=0, *, steps=(), modules=(), ops=(), id=None, name="", **options):
    """A TensorCore."""
    lines = [
        line(*events, id=place, name=title)
        for place, (title, events) in enumerate(
            (("Steps", steps), ("XLA Modules", modules), ("XLA Ops", ops)), 1
        )
        if events
    ]
    made = plane(name or f"/device:TPU:{number}", *lines, **options)
    made.id = number if id is None else id
    return made

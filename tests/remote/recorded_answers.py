"""Answers of a profiler server that were recorded."""

from tests.cli.conftest import call  # noqa: F401
from tfprof.core.wire import messages


def recorded():
    """The answer of a server that has recorded the capture with slow input."""
    import lzma
    from pathlib import Path

    import tfprof.demo

    packed = Path(tfprof.demo.__file__).with_name("input_bound.xplane.pb.xz").read_bytes()
    data = lzma.decompress(packed)
    return messages.ProfileResponse(xspace=messages.XSpace.FromString(data)).SerializeToString()

"""Shardings of arrays: which part lies on which device.

XLA wrote them as tiles of devices; since 2026 it writes named axes of a grid of devices.
"""

from __future__ import annotations

from tfprof.captures.read.hlo_attributes import axis_text, iota_text, listed
from tfprof.core.wire import messages as pb

_SHARDINGS = ("replicated", "maximal", "tuple", "other", "manual", "unknown", "unreduced")
_IN_TILES = _SHARDINGS.index("other")


def _kind(number: int) -> str:
    return _SHARDINGS[number] if 0 <= number < len(_SHARDINGS) else "unknown"


def sharding_of(proto: pb.OpSharding) -> str:
    """A sharding as XLA writes it: ``{devices=[4,1]<=[4]}``, ``{mesh[d=4], [{d}, {}]}``."""
    if proto.HasField("named_sharding"):
        return _named(proto.named_sharding)
    if proto.type != _IN_TILES:
        device = "".join(f" device={number}" for number in proto.tile_assignment_devices[:1])
        return f"{{{_kind(proto.type)}{device}}}"
    sizes = proto.tile_assignment_dimensions
    if proto.iota_reshape_dims:
        devices = iota_text(sizes, proto)
    else:
        devices = f"[{listed(sizes)}]{listed(proto.tile_assignment_devices)}"
    last = " last_tile_dim_replicate" if proto.replicate_on_last_tile_dim else ""
    if proto.last_tile_dims:
        last = f" last_tile_dims={{{', '.join(map(_kind, proto.last_tile_dims))}}}"
    return f"{{devices={devices}{last}}}"


def _named(proto: pb.NamedShardingProto) -> str:
    axes = [axis.name for axis in proto.mesh.axes]
    dimensions = [
        [axis_text(axes[axis.mesh_axis_index], axis) for axis in one.axes
         if 0 <= axis.mesh_axis_index < len(axes)]
        for one in proto.dim_shardings
    ]  # fmt: skip
    if not any(dimensions):
        return f"{{{_SHARDINGS[0]}}}"
    mesh = ", ".join(f"{axis.name}={axis.size}" for axis in proto.mesh.axes)
    shared = ", ".join(f"{{{', '.join(names)}}}" for names in dimensions)
    return f"{{mesh[{mesh}], [{shared}]}}"

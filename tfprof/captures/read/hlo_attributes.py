"""Shapes and attributes of HLO instructions, from their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, Final, TypeAlias

from tfprof.captures.model.hlo import (
    NO_ATTRIBUTES,
    Attributes,
    ConvolutionDimensions,
    DotDimensions,
    Layout,
    Shape,
    WindowDimension,
)
from tfprof.captures.model.replica_groups import MeshAxis, mesh_groups
from tfprof.core.wire import messages as pb

Places: TypeAlias = tuple[tuple[str, int | tuple[int, ...]], ...]


@cache
def _type_names() -> dict[int, str]:
    names = {number: name.lower() for name, number in pb.PrimitiveType.items()}
    names[pb.PrimitiveType.PRIMITIVE_TYPE_INVALID] = "invalid"
    names[pb.PrimitiveType.OPAQUE_TYPE] = "opaque"
    return names


_MOST_DIMENSIONS = 1000


def shape_of(proto: pb.ShapeProto) -> Shape:
    """A shape; an unknown type becomes ``invalid``, an unknown size 0.

    An array with too many dimensions is ``invalid``, too: the time to multiply them is quadratic.
    """
    if len(proto.dimensions) > _MOST_DIMENSIONS:
        return Shape("invalid", ())
    kind = _type_names().get(proto.element_type, "invalid")
    parts = tuple(shape_of(part) for part in proto.tuple_shapes) if kind == "tuple" else ()
    dynamic = tuple(proto.is_dynamic_dimension)
    return Shape(
        kind,
        tuple(max(size, 0) for size in proto.dimensions),
        _layout_of(proto.layout) if proto.HasField("layout") else None,
        parts,
        dynamic if any(dynamic) else (),
    )


def _layout_of(proto: pb.LayoutProto) -> Layout:
    return Layout(
        tuple(proto.minor_to_major),
        tuple(tuple(tile.dimensions) for tile in proto.tiles),
        proto.element_size_in_bits,
        proto.memory_space,
    )


def attributes_of(proto: pb.HloInstructionProto) -> Attributes:
    """Attributes that only some instructions have."""
    values: dict[str, object] = {}
    for field, value in proto.ListFields():  # only set ones: most instructions have none
        read = _READERS.get(field.name)
        if read is not None:
            name, convert = read
            if converted := convert(value):
                values[name] = converted
    if proto.HasField("mesh_axes_replica_group_list"):
        values["mesh_axes"] = _mesh_axes(proto.mesh_axes_replica_group_list)
    if "convolution" in values:
        # Old compilers write 0 for "no groups".
        values["feature_groups"] = max(proto.feature_group_count, 1)
        values["batch_groups"] = max(proto.batch_group_count, 1)
    if "places" in values and proto.HasField("gather_dimension_numbers"):
        sizes = tuple(proto.gather_slice_sizes)
        values["places"] = (*_gather(proto.gather_dimension_numbers), ("slice_sizes", sizes))
    if proto.opcode == "fft":
        values["fft"] = (pb.FftType.Name(proto.fft_type), tuple(proto.fft_length))
    if proto.opcode == "constant":
        values["literal"] = _literal(proto.literal)
    return Attributes(**values) if values else NO_ATTRIBUTES  # type: ignore[arg-type]


def _window(proto: pb.Window) -> tuple[WindowDimension, ...]:
    return tuple(
        WindowDimension(
            one.size,
            one.stride,
            one.padding_low,
            one.padding_high,
            max(one.window_dilation, 1),
            max(one.base_dilation, 1),
            one.window_reversal,
        )
        for one in proto.dimensions
    )


def dot_of(proto: pb.DotDimensionNumbers) -> DotDimensions:
    """The dimensions of a product."""
    return DotDimensions(
        tuple(proto.lhs_contracting_dimensions),
        tuple(proto.rhs_contracting_dimensions),
        tuple(proto.lhs_batch_dimensions),
        tuple(proto.rhs_batch_dimensions),
    )


def _convolution(proto: pb.ConvolutionDimensionNumbers) -> ConvolutionDimensions:
    return ConvolutionDimensions(
        proto.input_batch_dimension,
        proto.input_feature_dimension,
        tuple(proto.input_spatial_dimensions),
        proto.kernel_input_feature_dimension,
        proto.kernel_output_feature_dimension,
        tuple(proto.kernel_spatial_dimensions),
        proto.output_batch_dimension,
        proto.output_feature_dimension,
        tuple(proto.output_spatial_dimensions),
    )


def _gather(numbers: pb.GatherDimensionNumbers) -> Places:
    places: Places = (
        ("offset_dims", tuple(numbers.offset_dims)),
        ("collapsed_slice_dims", tuple(numbers.collapsed_slice_dims)),
        ("start_index_map", tuple(numbers.start_index_map)),
    )
    if numbers.operand_batching_dims:
        indices = tuple(numbers.start_indices_batching_dims)
        places += (("operand_batching_dims", tuple(numbers.operand_batching_dims)),)
        places += (("start_indices_batching_dims", indices),)
    return (*places, ("index_vector_dim", numbers.index_vector_dim))


def _scatter(numbers: pb.ScatterDimensionNumbers) -> Places:
    places: Places = (
        ("update_window_dims", tuple(numbers.update_window_dims)),
        ("inserted_window_dims", tuple(numbers.inserted_window_dims)),
        ("scatter_dims_to_operand_dims", tuple(numbers.scatter_dims_to_operand_dims)),
    )
    if numbers.input_batching_dims:
        places += (("input_batching_dims", tuple(numbers.input_batching_dims)),)
        indices = tuple(numbers.scatter_indices_batching_dims)
        places += (("scatter_indices_batching_dims", indices),)
    return (*places, ("index_vector_dim", numbers.index_vector_dim))


def _groups(groups: Iterable[pb.ReplicaGroup]) -> str:
    """Replica groups as XLA writes them."""
    listed = ("{" + ",".join(map(str, group.replica_ids)) + "}" for group in groups)
    return "{" + ",".join(listed) + "}"


def _devices(proto: pb.CollectiveDeviceListProto) -> str:
    if proto.HasField("iota_replica_group_list"):
        return _iota(proto.iota_replica_group_list)
    return _groups(proto.replica_groups)


def _iota(proto: pb.IotaReplicaGroupListProto) -> str:
    return iota_text([proto.num_replica_groups, proto.num_devices_per_group], proto)


def iota_text(sizes: Iterable[int], proto: pb.IotaReplicaGroupListProto | pb.OpSharding) -> str:
    """An array of devices in the order of their numbers, or in a transposed one."""
    order = list(proto.iota_transpose_perm)
    made = f"[{listed(sizes)}]<=[{listed(proto.iota_reshape_dims)}]"
    return made if order == list(range(len(order))) else f"{made}T({listed(order)})"


def listed(numbers: Iterable[int]) -> str:
    """Numbers as XLA writes them."""
    return ",".join(map(str, numbers))


def _mesh(proto: pb.MeshAxesReplicaGroupListProto) -> str:
    """Groups of devices that differ in some axes of a mesh, as XLA writes other groups."""
    return mesh_groups(
        [axis.size for axis in proto.mesh.axes],
        [
            MeshAxis(axis.mesh_axis_index, axis.sub_axis_info.pre_size, axis.sub_axis_info.size)
            for axis in proto.axes
        ],
        proto.mesh.device_ids,
    )


def _mesh_axes(proto: pb.MeshAxesReplicaGroupListProto) -> tuple[str, ...]:
    """Names of the axes."""
    names = []
    for axis in proto.axes:
        if 0 <= axis.mesh_axis_index < len(proto.mesh.axes):
            names.append(axis_text(proto.mesh.axes[axis.mesh_axis_index].name, axis))
    return tuple(names)


def axis_text(name: str, proto: pb.AxisRefProto) -> str:
    """An axis of a mesh; of a part of one, with its sizes as Shardy writes them."""
    part = proto.sub_axis_info
    return f"{name}:({part.pre_size}){part.size}" if part.size else name


def _rows(*names: str) -> Callable[[Any], object]:
    """A function that makes a tuple of fields for each of several messages."""
    fields = attrgetter(*names)
    return lambda protos: tuple(map(fields, protos))


_SIDES: Final = _rows("edge_padding_low", "edge_padding_high", "interior_padding")

_READERS: Final[Mapping[str, tuple[str, Callable[[Any], object]]]] = {
    "dimensions": ("dimensions", tuple),
    "comparison_direction": ("direction", str),
    "custom_call_target": ("custom_call_target", str),
    "fusion_kind": ("fusion_kind", str),
    "backend_config": ("backend_config", bytes),
    "channel_id": ("channel", int),
    "use_global_device_ids": ("global_devices", bool),
    "replica_groups": ("replica_groups", _groups),
    "collective_device_list": ("replica_groups", _devices),
    "iota_collective_device_list": ("replica_groups", _iota),
    "mesh_axes_replica_group_list": ("replica_groups", _mesh),
    "source_target_pairs": ("pairs", _rows("source", "target")),
    "frontend_attributes": ("frontend", lambda proto: tuple(sorted(proto.map.items()))),
    "slice_dimensions": ("slices", _rows("start", "limit", "stride")),
    "padding_config": ("padding", lambda proto: _SIDES(proto.dimensions)),
    "window": ("window", _window),
    "dot_dimension_numbers": ("dot", dot_of),
    "convolution_dimension_numbers": ("convolution", _convolution),
    "gather_dimension_numbers": ("places", _gather),
    "scatter_dimension_numbers": ("places", _scatter),
}
"""Field of the message → name of the attribute, and the function that makes its value."""


def _literal(proto: pb.LiteralProto) -> str:
    """A constant of one number as text, else ``{...}``, as XLA shows large ones."""
    for values in (
        proto.f32s, proto.s32s, proto.preds, proto.s64s, proto.u32s, proto.u64s, proto.f64s,
    ):  # fmt: skip
        if len(values) == 1 and not proto.shape.dimensions:
            value = values[0]
            if isinstance(value, bool):
                return "true" if value else "false"
            return f"{value:.9g}" if isinstance(value, float) else str(value)
    return "{...}"

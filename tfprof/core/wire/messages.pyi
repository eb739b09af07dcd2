"""Message classes of tfprof. Written by protos/generate.py; do not edit."""

import builtins
import collections.abc
import typing

from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.containers import (
    MessageMap,
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
    ScalarMap,
)
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import Message

from tfprof.core.wire.parsing import parse as parse

def message_class(full_name: builtins.str) -> builtins.type[Message]: ...
def message_names() -> builtins.list[builtins.str]: ...
def private_pool() -> DescriptorPool: ...

class _DataType(EnumTypeWrapper):
    DT_INVALID: builtins.int
    DT_FLOAT: builtins.int
    DT_DOUBLE: builtins.int
    DT_INT32: builtins.int
    DT_UINT8: builtins.int
    DT_INT16: builtins.int
    DT_INT8: builtins.int
    DT_STRING: builtins.int
    DT_COMPLEX64: builtins.int
    DT_INT64: builtins.int
    DT_BOOL: builtins.int
    DT_QINT8: builtins.int
    DT_QUINT8: builtins.int
    DT_QINT32: builtins.int
    DT_BFLOAT16: builtins.int
    DT_QINT16: builtins.int
    DT_QUINT16: builtins.int
    DT_UINT16: builtins.int
    DT_COMPLEX128: builtins.int
    DT_HALF: builtins.int
    DT_RESOURCE: builtins.int
    DT_VARIANT: builtins.int
    DT_UINT32: builtins.int
    DT_UINT64: builtins.int
    DT_FLOAT8_E5M2: builtins.int
    DT_FLOAT8_E4M3FN: builtins.int
    DT_FLOAT8_E4M3FNUZ: builtins.int
    DT_FLOAT8_E4M3B11FNUZ: builtins.int
    DT_FLOAT8_E5M2FNUZ: builtins.int
    DT_INT4: builtins.int
    DT_UINT4: builtins.int
    DT_INT2: builtins.int
    DT_UINT2: builtins.int
    DT_FLOAT4_E2M1FN: builtins.int
    DT_FLOAT_REF: builtins.int
    DT_DOUBLE_REF: builtins.int
    DT_INT32_REF: builtins.int
    DT_UINT8_REF: builtins.int
    DT_INT16_REF: builtins.int
    DT_INT8_REF: builtins.int
    DT_STRING_REF: builtins.int
    DT_COMPLEX64_REF: builtins.int
    DT_INT64_REF: builtins.int
    DT_BOOL_REF: builtins.int
    DT_QINT8_REF: builtins.int
    DT_QUINT8_REF: builtins.int
    DT_QINT32_REF: builtins.int
    DT_BFLOAT16_REF: builtins.int
    DT_QINT16_REF: builtins.int
    DT_QUINT16_REF: builtins.int
    DT_UINT16_REF: builtins.int
    DT_COMPLEX128_REF: builtins.int
    DT_HALF_REF: builtins.int
    DT_RESOURCE_REF: builtins.int
    DT_VARIANT_REF: builtins.int
    DT_UINT32_REF: builtins.int
    DT_UINT64_REF: builtins.int
    DT_FLOAT8_E5M2_REF: builtins.int
    DT_FLOAT8_E4M3FN_REF: builtins.int
    DT_FLOAT8_E4M3FNUZ_REF: builtins.int
    DT_FLOAT8_E4M3B11FNUZ_REF: builtins.int
    DT_FLOAT8_E5M2FNUZ_REF: builtins.int
    DT_INT4_REF: builtins.int
    DT_UINT4_REF: builtins.int
    DT_INT2_REF: builtins.int
    DT_UINT2_REF: builtins.int
    DT_FLOAT4_E2M1FN_REF: builtins.int

DataType: _DataType

class _FullTypeId(EnumTypeWrapper):
    TFT_UNSET: builtins.int
    TFT_VAR: builtins.int
    TFT_ANY: builtins.int
    TFT_PRODUCT: builtins.int
    TFT_NAMED: builtins.int
    TFT_FOR_EACH: builtins.int
    TFT_CALLABLE: builtins.int
    TFT_BOOL: builtins.int
    TFT_UINT8: builtins.int
    TFT_UINT16: builtins.int
    TFT_UINT32: builtins.int
    TFT_UINT64: builtins.int
    TFT_INT8: builtins.int
    TFT_INT16: builtins.int
    TFT_INT32: builtins.int
    TFT_INT64: builtins.int
    TFT_HALF: builtins.int
    TFT_FLOAT: builtins.int
    TFT_DOUBLE: builtins.int
    TFT_COMPLEX64: builtins.int
    TFT_COMPLEX128: builtins.int
    TFT_STRING: builtins.int
    TFT_BFLOAT16: builtins.int
    TFT_TENSOR: builtins.int
    TFT_ARRAY: builtins.int
    TFT_OPTIONAL: builtins.int
    TFT_LITERAL: builtins.int
    TFT_ENCODED: builtins.int
    TFT_SHAPE_TENSOR: builtins.int
    TFT_DATASET: builtins.int
    TFT_RAGGED: builtins.int
    TFT_ITERATOR: builtins.int
    TFT_MUTEX_LOCK: builtins.int
    TFT_LEGACY_VARIANT: builtins.int

FullTypeId: _FullTypeId

class FullTypeDef(Message):
    type_id: builtins.int
    @property
    def args(self) -> RepeatedCompositeFieldContainer[FullTypeDef]: ...
    s: builtins.str
    i: builtins.int
    def __init__(
        self,
        *,
        type_id: builtins.int | None = ...,
        args: collections.abc.Iterable[FullTypeDef] | None = ...,
        s: builtins.str | None = ...,
        i: builtins.int | None = ...,
    ) -> None: ...

class VersionDef(Message):
    producer: builtins.int
    min_consumer: builtins.int
    @property
    def bad_consumers(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        producer: builtins.int | None = ...,
        min_consumer: builtins.int | None = ...,
        bad_consumers: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class TensorShapeProto(Message):
    class Dim(Message):
        size: builtins.int
        name: builtins.str
        def __init__(
            self,
            *,
            size: builtins.int | None = ...,
            name: builtins.str | None = ...,
        ) -> None: ...
    @property
    def dim(self) -> RepeatedCompositeFieldContainer[TensorShapeProto.Dim]: ...
    unknown_rank: builtins.bool
    def __init__(
        self,
        *,
        dim: collections.abc.Iterable[TensorShapeProto.Dim] | None = ...,
        unknown_rank: builtins.bool | None = ...,
    ) -> None: ...

class ResourceHandleProto(Message):
    class DtypeAndShape(Message):
        dtype: builtins.int
        @property
        def shape(self) -> TensorShapeProto: ...
        def __init__(
            self,
            *,
            dtype: builtins.int | None = ...,
            shape: TensorShapeProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        ) -> None: ...
    device: builtins.str
    container: builtins.str
    name: builtins.str
    hash_code: builtins.int
    maybe_type_name: builtins.str
    @property
    def dtypes_and_shapes(self) -> RepeatedCompositeFieldContainer[ResourceHandleProto.DtypeAndShape]: ...
    def __init__(
        self,
        *,
        device: builtins.str | None = ...,
        container: builtins.str | None = ...,
        name: builtins.str | None = ...,
        hash_code: builtins.int | None = ...,
        maybe_type_name: builtins.str | None = ...,
        dtypes_and_shapes: collections.abc.Iterable[ResourceHandleProto.DtypeAndShape] | None = ...,
    ) -> None: ...

class TensorProto(Message):
    dtype: builtins.int
    @property
    def tensor_shape(self) -> TensorShapeProto: ...
    version_number: builtins.int
    tensor_content: builtins.bytes
    @property
    def float_val(self) -> RepeatedScalarFieldContainer[builtins.float]: ...
    @property
    def double_val(self) -> RepeatedScalarFieldContainer[builtins.float]: ...
    @property
    def int_val(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def string_val(self) -> RepeatedScalarFieldContainer[builtins.bytes]: ...
    @property
    def scomplex_val(self) -> RepeatedScalarFieldContainer[builtins.float]: ...
    @property
    def int64_val(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def bool_val(self) -> RepeatedScalarFieldContainer[builtins.bool]: ...
    @property
    def dcomplex_val(self) -> RepeatedScalarFieldContainer[builtins.float]: ...
    @property
    def half_val(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def resource_handle_val(self) -> RepeatedCompositeFieldContainer[ResourceHandleProto]: ...
    @property
    def variant_val(self) -> RepeatedCompositeFieldContainer[VariantTensorDataProto]: ...
    @property
    def uint32_val(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def uint64_val(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    float8_val: builtins.bytes
    def __init__(
        self,
        *,
        dtype: builtins.int | None = ...,
        tensor_shape: TensorShapeProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        version_number: builtins.int | None = ...,
        tensor_content: builtins.bytes | None = ...,
        float_val: collections.abc.Iterable[builtins.float] | None = ...,
        double_val: collections.abc.Iterable[builtins.float] | None = ...,
        int_val: collections.abc.Iterable[builtins.int] | None = ...,
        string_val: collections.abc.Iterable[builtins.bytes] | None = ...,
        scomplex_val: collections.abc.Iterable[builtins.float] | None = ...,
        int64_val: collections.abc.Iterable[builtins.int] | None = ...,
        bool_val: collections.abc.Iterable[builtins.bool] | None = ...,
        dcomplex_val: collections.abc.Iterable[builtins.float] | None = ...,
        half_val: collections.abc.Iterable[builtins.int] | None = ...,
        resource_handle_val: collections.abc.Iterable[ResourceHandleProto] | None = ...,
        variant_val: collections.abc.Iterable[VariantTensorDataProto] | None = ...,
        uint32_val: collections.abc.Iterable[builtins.int] | None = ...,
        uint64_val: collections.abc.Iterable[builtins.int] | None = ...,
        float8_val: builtins.bytes | None = ...,
    ) -> None: ...

class VariantTensorDataProto(Message):
    type_name: builtins.str
    metadata: builtins.bytes
    @property
    def tensors(self) -> RepeatedCompositeFieldContainer[TensorProto]: ...
    def __init__(
        self,
        *,
        type_name: builtins.str | None = ...,
        metadata: builtins.bytes | None = ...,
        tensors: collections.abc.Iterable[TensorProto] | None = ...,
    ) -> None: ...

class GraphNodeProto(Message):
    name: builtins.str
    exec_micros: builtins.int
    requested_bytes: builtins.int
    parameters: builtins.int
    total_exec_micros: builtins.int
    total_requested_bytes: builtins.int
    total_parameters: builtins.int
    @property
    def devices(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def shapes(self) -> RepeatedCompositeFieldContainer[TensorShapeProto]: ...
    @property
    def children(self) -> RepeatedCompositeFieldContainer[GraphNodeProto]: ...
    float_ops: builtins.int
    total_float_ops: builtins.int
    @property
    def tensor_value(self) -> TFProfTensorProto: ...
    @property
    def input_shapes(self) -> MessageMap[builtins.int, TensorShapeProto]: ...
    accelerator_exec_micros: builtins.int
    cpu_exec_micros: builtins.int
    total_accelerator_exec_micros: builtins.int
    total_cpu_exec_micros: builtins.int
    run_count: builtins.int
    total_run_count: builtins.int
    total_definition_count: builtins.int
    peak_bytes: builtins.int
    residual_bytes: builtins.int
    output_bytes: builtins.int
    total_peak_bytes: builtins.int
    total_residual_bytes: builtins.int
    total_output_bytes: builtins.int
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        exec_micros: builtins.int | None = ...,
        requested_bytes: builtins.int | None = ...,
        parameters: builtins.int | None = ...,
        total_exec_micros: builtins.int | None = ...,
        total_requested_bytes: builtins.int | None = ...,
        total_parameters: builtins.int | None = ...,
        devices: collections.abc.Iterable[builtins.str] | None = ...,
        shapes: collections.abc.Iterable[TensorShapeProto] | None = ...,
        children: collections.abc.Iterable[GraphNodeProto] | None = ...,
        float_ops: builtins.int | None = ...,
        total_float_ops: builtins.int | None = ...,
        tensor_value: TFProfTensorProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        input_shapes: collections.abc.Mapping[builtins.int, TensorShapeProto] | None = ...,
        accelerator_exec_micros: builtins.int | None = ...,
        cpu_exec_micros: builtins.int | None = ...,
        total_accelerator_exec_micros: builtins.int | None = ...,
        total_cpu_exec_micros: builtins.int | None = ...,
        run_count: builtins.int | None = ...,
        total_run_count: builtins.int | None = ...,
        total_definition_count: builtins.int | None = ...,
        peak_bytes: builtins.int | None = ...,
        residual_bytes: builtins.int | None = ...,
        output_bytes: builtins.int | None = ...,
        total_peak_bytes: builtins.int | None = ...,
        total_residual_bytes: builtins.int | None = ...,
        total_output_bytes: builtins.int | None = ...,
    ) -> None: ...

class MultiGraphNodeProto(Message):
    name: builtins.str
    exec_micros: builtins.int
    requested_bytes: builtins.int
    parameters: builtins.int
    float_ops: builtins.int
    total_exec_micros: builtins.int
    total_requested_bytes: builtins.int
    total_parameters: builtins.int
    total_float_ops: builtins.int
    @property
    def graph_nodes(self) -> RepeatedCompositeFieldContainer[GraphNodeProto]: ...
    @property
    def children(self) -> RepeatedCompositeFieldContainer[MultiGraphNodeProto]: ...
    accelerator_exec_micros: builtins.int
    cpu_exec_micros: builtins.int
    total_accelerator_exec_micros: builtins.int
    total_cpu_exec_micros: builtins.int
    peak_bytes: builtins.int
    residual_bytes: builtins.int
    output_bytes: builtins.int
    total_peak_bytes: builtins.int
    total_residual_bytes: builtins.int
    total_output_bytes: builtins.int
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        exec_micros: builtins.int | None = ...,
        requested_bytes: builtins.int | None = ...,
        parameters: builtins.int | None = ...,
        float_ops: builtins.int | None = ...,
        total_exec_micros: builtins.int | None = ...,
        total_requested_bytes: builtins.int | None = ...,
        total_parameters: builtins.int | None = ...,
        total_float_ops: builtins.int | None = ...,
        graph_nodes: collections.abc.Iterable[GraphNodeProto] | None = ...,
        children: collections.abc.Iterable[MultiGraphNodeProto] | None = ...,
        accelerator_exec_micros: builtins.int | None = ...,
        cpu_exec_micros: builtins.int | None = ...,
        total_accelerator_exec_micros: builtins.int | None = ...,
        total_cpu_exec_micros: builtins.int | None = ...,
        peak_bytes: builtins.int | None = ...,
        residual_bytes: builtins.int | None = ...,
        output_bytes: builtins.int | None = ...,
        total_peak_bytes: builtins.int | None = ...,
        total_residual_bytes: builtins.int | None = ...,
        total_output_bytes: builtins.int | None = ...,
    ) -> None: ...

class TFProfTensorProto(Message):
    dtype: builtins.int
    @property
    def value_double(self) -> RepeatedScalarFieldContainer[builtins.float]: ...
    @property
    def value_int64(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def value_str(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    def __init__(
        self,
        *,
        dtype: builtins.int | None = ...,
        value_double: collections.abc.Iterable[builtins.float] | None = ...,
        value_int64: collections.abc.Iterable[builtins.int] | None = ...,
        value_str: collections.abc.Iterable[builtins.str] | None = ...,
    ) -> None: ...

class AdviceProto(Message):
    class Checker(Message):
        @property
        def reports(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
        def __init__(
            self,
            *,
            reports: collections.abc.Iterable[builtins.str] | None = ...,
        ) -> None: ...
    @property
    def checkers(self) -> MessageMap[builtins.str, AdviceProto.Checker]: ...
    def __init__(
        self,
        *,
        checkers: collections.abc.Mapping[builtins.str, AdviceProto.Checker] | None = ...,
    ) -> None: ...

class CheckpointState(Message):
    model_checkpoint_path: builtins.str
    @property
    def all_model_checkpoint_paths(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def all_model_checkpoint_timestamps(self) -> RepeatedScalarFieldContainer[builtins.float]: ...
    last_preserved_timestamp: builtins.float
    def __init__(
        self,
        *,
        model_checkpoint_path: builtins.str | None = ...,
        all_model_checkpoint_paths: collections.abc.Iterable[builtins.str] | None = ...,
        all_model_checkpoint_timestamps: collections.abc.Iterable[builtins.float] | None = ...,
        last_preserved_timestamp: builtins.float | None = ...,
    ) -> None: ...

class TensorSliceProto(Message):
    class Extent(Message):
        start: builtins.int
        length: builtins.int
        def __init__(
            self,
            *,
            start: builtins.int | None = ...,
            length: builtins.int | None = ...,
        ) -> None: ...
    @property
    def extent(self) -> RepeatedCompositeFieldContainer[TensorSliceProto.Extent]: ...
    def __init__(
        self,
        *,
        extent: collections.abc.Iterable[TensorSliceProto.Extent] | None = ...,
    ) -> None: ...

class BundleHeaderProto(Message):
    LITTLE: typing.Final = 0
    BIG: typing.Final = 1
    num_shards: builtins.int
    endianness: builtins.int
    @property
    def version(self) -> VersionDef: ...
    def __init__(
        self,
        *,
        num_shards: builtins.int | None = ...,
        endianness: builtins.int | None = ...,
        version: VersionDef | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class BundleEntryProto(Message):
    dtype: builtins.int
    @property
    def shape(self) -> TensorShapeProto: ...
    shard_id: builtins.int
    offset: builtins.int
    size: builtins.int
    crc32c: builtins.int
    @property
    def slices(self) -> RepeatedCompositeFieldContainer[TensorSliceProto]: ...
    def __init__(
        self,
        *,
        dtype: builtins.int | None = ...,
        shape: TensorShapeProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        shard_id: builtins.int | None = ...,
        offset: builtins.int | None = ...,
        size: builtins.int | None = ...,
        crc32c: builtins.int | None = ...,
        slices: collections.abc.Iterable[TensorSliceProto] | None = ...,
    ) -> None: ...

class SavedTensorSlices(Message):
    @property
    def meta(self) -> SavedTensorSliceMeta: ...
    @property
    def data(self) -> SavedSlice: ...
    def __init__(
        self,
        *,
        meta: SavedTensorSliceMeta | collections.abc.Mapping[str, typing.Any] | None = ...,
        data: SavedSlice | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class SavedTensorSliceMeta(Message):
    @property
    def tensor(self) -> RepeatedCompositeFieldContainer[SavedSliceMeta]: ...
    @property
    def versions(self) -> VersionDef: ...
    def __init__(
        self,
        *,
        tensor: collections.abc.Iterable[SavedSliceMeta] | None = ...,
        versions: VersionDef | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class SavedSliceMeta(Message):
    name: builtins.str
    @property
    def shape(self) -> TensorShapeProto: ...
    type: builtins.int
    @property
    def slice(self) -> RepeatedCompositeFieldContainer[TensorSliceProto]: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        shape: TensorShapeProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        type: builtins.int | None = ...,
        slice: collections.abc.Iterable[TensorSliceProto] | None = ...,
    ) -> None: ...

class SavedSlice(Message):
    name: builtins.str
    @property
    def slice(self) -> TensorSliceProto: ...
    @property
    def data(self) -> TensorProto: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        slice: TensorSliceProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        data: TensorProto | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class GraphDef(Message):
    @property
    def node(self) -> RepeatedCompositeFieldContainer[NodeDef]: ...
    @property
    def library(self) -> FunctionDefLibrary: ...
    version: builtins.int
    @property
    def versions(self) -> VersionDef: ...
    @property
    def debug_info(self) -> GraphDebugInfo: ...
    def __init__(
        self,
        *,
        node: collections.abc.Iterable[NodeDef] | None = ...,
        library: FunctionDefLibrary | collections.abc.Mapping[str, typing.Any] | None = ...,
        version: builtins.int | None = ...,
        versions: VersionDef | collections.abc.Mapping[str, typing.Any] | None = ...,
        debug_info: GraphDebugInfo | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class NodeDef(Message):
    class ExperimentalDebugInfo(Message):
        @property
        def original_node_names(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
        @property
        def original_func_names(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
        def __init__(
            self,
            *,
            original_node_names: collections.abc.Iterable[builtins.str] | None = ...,
            original_func_names: collections.abc.Iterable[builtins.str] | None = ...,
        ) -> None: ...
    name: builtins.str
    op: builtins.str
    @property
    def input(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    device: builtins.str
    @property
    def attr(self) -> MessageMap[builtins.str, AttrValue]: ...
    @property
    def experimental_debug_info(self) -> NodeDef.ExperimentalDebugInfo: ...
    @property
    def experimental_type(self) -> FullTypeDef: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        op: builtins.str | None = ...,
        input: collections.abc.Iterable[builtins.str] | None = ...,
        device: builtins.str | None = ...,
        attr: collections.abc.Mapping[builtins.str, AttrValue] | None = ...,
        experimental_debug_info: NodeDef.ExperimentalDebugInfo | collections.abc.Mapping[str, typing.Any] | None = ...,
        experimental_type: FullTypeDef | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class AttrValue(Message):
    class ListValue(Message):
        @property
        def s(self) -> RepeatedScalarFieldContainer[builtins.bytes]: ...
        @property
        def i(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
        @property
        def f(self) -> RepeatedScalarFieldContainer[builtins.float]: ...
        @property
        def b(self) -> RepeatedScalarFieldContainer[builtins.bool]: ...
        @property
        def type(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
        @property
        def shape(self) -> RepeatedCompositeFieldContainer[TensorShapeProto]: ...
        @property
        def tensor(self) -> RepeatedCompositeFieldContainer[TensorProto]: ...
        @property
        def func(self) -> RepeatedCompositeFieldContainer[NameAttrList]: ...
        def __init__(
            self,
            *,
            s: collections.abc.Iterable[builtins.bytes] | None = ...,
            i: collections.abc.Iterable[builtins.int] | None = ...,
            f: collections.abc.Iterable[builtins.float] | None = ...,
            b: collections.abc.Iterable[builtins.bool] | None = ...,
            type: collections.abc.Iterable[builtins.int] | None = ...,
            shape: collections.abc.Iterable[TensorShapeProto] | None = ...,
            tensor: collections.abc.Iterable[TensorProto] | None = ...,
            func: collections.abc.Iterable[NameAttrList] | None = ...,
        ) -> None: ...
    @property
    def list(self) -> AttrValue.ListValue: ...
    s: builtins.bytes
    i: builtins.int
    f: builtins.float
    b: builtins.bool
    type: builtins.int
    @property
    def shape(self) -> TensorShapeProto: ...
    @property
    def tensor(self) -> TensorProto: ...
    placeholder: builtins.str
    @property
    def func(self) -> NameAttrList: ...
    def __init__(
        self,
        *,
        list: AttrValue.ListValue | collections.abc.Mapping[str, typing.Any] | None = ...,
        s: builtins.bytes | None = ...,
        i: builtins.int | None = ...,
        f: builtins.float | None = ...,
        b: builtins.bool | None = ...,
        type: builtins.int | None = ...,
        shape: TensorShapeProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        tensor: TensorProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        placeholder: builtins.str | None = ...,
        func: NameAttrList | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class NameAttrList(Message):
    name: builtins.str
    @property
    def attr(self) -> MessageMap[builtins.str, AttrValue]: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        attr: collections.abc.Mapping[builtins.str, AttrValue] | None = ...,
    ) -> None: ...

class FunctionDefLibrary(Message):
    @property
    def function(self) -> RepeatedCompositeFieldContainer[FunctionDef]: ...
    @property
    def gradient(self) -> RepeatedCompositeFieldContainer[GradientDef]: ...
    @property
    def registered_gradients(self) -> RepeatedCompositeFieldContainer[RegisteredGradient]: ...
    def __init__(
        self,
        *,
        function: collections.abc.Iterable[FunctionDef] | None = ...,
        gradient: collections.abc.Iterable[GradientDef] | None = ...,
        registered_gradients: collections.abc.Iterable[RegisteredGradient] | None = ...,
    ) -> None: ...

class FunctionDef(Message):
    class ArgAttrs(Message):
        @property
        def attr(self) -> MessageMap[builtins.str, AttrValue]: ...
        def __init__(
            self,
            *,
            attr: collections.abc.Mapping[builtins.str, AttrValue] | None = ...,
        ) -> None: ...
    @property
    def signature(self) -> OpDef: ...
    @property
    def node_def(self) -> RepeatedCompositeFieldContainer[NodeDef]: ...
    @property
    def ret(self) -> ScalarMap[builtins.str, builtins.str]: ...
    @property
    def attr(self) -> MessageMap[builtins.str, AttrValue]: ...
    @property
    def control_ret(self) -> ScalarMap[builtins.str, builtins.str]: ...
    @property
    def arg_attr(self) -> MessageMap[builtins.int, FunctionDef.ArgAttrs]: ...
    @property
    def resource_arg_unique_id(self) -> ScalarMap[builtins.int, builtins.int]: ...
    def __init__(
        self,
        *,
        signature: OpDef | collections.abc.Mapping[str, typing.Any] | None = ...,
        node_def: collections.abc.Iterable[NodeDef] | None = ...,
        ret: collections.abc.Mapping[builtins.str, builtins.str] | None = ...,
        attr: collections.abc.Mapping[builtins.str, AttrValue] | None = ...,
        control_ret: collections.abc.Mapping[builtins.str, builtins.str] | None = ...,
        arg_attr: collections.abc.Mapping[builtins.int, FunctionDef.ArgAttrs] | None = ...,
        resource_arg_unique_id: collections.abc.Mapping[builtins.int, builtins.int] | None = ...,
    ) -> None: ...

class GradientDef(Message):
    function_name: builtins.str
    gradient_func: builtins.str
    def __init__(
        self,
        *,
        function_name: builtins.str | None = ...,
        gradient_func: builtins.str | None = ...,
    ) -> None: ...

class RegisteredGradient(Message):
    gradient_func: builtins.str
    registered_op_type: builtins.str
    def __init__(
        self,
        *,
        gradient_func: builtins.str | None = ...,
        registered_op_type: builtins.str | None = ...,
    ) -> None: ...

class OpDef(Message):
    class ArgDef(Message):
        name: builtins.str
        description: builtins.str
        type: builtins.int
        type_attr: builtins.str
        number_attr: builtins.str
        type_list_attr: builtins.str
        @property
        def handle_data(self) -> RepeatedCompositeFieldContainer[ResourceHandleProto.DtypeAndShape]: ...
        is_ref: builtins.bool
        @property
        def experimental_full_type(self) -> FullTypeDef: ...
        def __init__(
            self,
            *,
            name: builtins.str | None = ...,
            description: builtins.str | None = ...,
            type: builtins.int | None = ...,
            type_attr: builtins.str | None = ...,
            number_attr: builtins.str | None = ...,
            type_list_attr: builtins.str | None = ...,
            handle_data: collections.abc.Iterable[ResourceHandleProto.DtypeAndShape] | None = ...,
            is_ref: builtins.bool | None = ...,
            experimental_full_type: FullTypeDef | collections.abc.Mapping[str, typing.Any] | None = ...,
        ) -> None: ...
    class AttrDef(Message):
        name: builtins.str
        type: builtins.str
        @property
        def default_value(self) -> AttrValue: ...
        description: builtins.str
        has_minimum: builtins.bool
        minimum: builtins.int
        @property
        def allowed_values(self) -> AttrValue: ...
        def __init__(
            self,
            *,
            name: builtins.str | None = ...,
            type: builtins.str | None = ...,
            default_value: AttrValue | collections.abc.Mapping[str, typing.Any] | None = ...,
            description: builtins.str | None = ...,
            has_minimum: builtins.bool | None = ...,
            minimum: builtins.int | None = ...,
            allowed_values: AttrValue | collections.abc.Mapping[str, typing.Any] | None = ...,
        ) -> None: ...
    name: builtins.str
    @property
    def input_arg(self) -> RepeatedCompositeFieldContainer[OpDef.ArgDef]: ...
    @property
    def output_arg(self) -> RepeatedCompositeFieldContainer[OpDef.ArgDef]: ...
    @property
    def attr(self) -> RepeatedCompositeFieldContainer[OpDef.AttrDef]: ...
    summary: builtins.str
    description: builtins.str
    @property
    def deprecation(self) -> OpDeprecation: ...
    is_aggregate: builtins.bool
    is_stateful: builtins.bool
    is_commutative: builtins.bool
    allows_uninitialized_input: builtins.bool
    @property
    def control_output(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    is_distributed_communication: builtins.bool
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        input_arg: collections.abc.Iterable[OpDef.ArgDef] | None = ...,
        output_arg: collections.abc.Iterable[OpDef.ArgDef] | None = ...,
        attr: collections.abc.Iterable[OpDef.AttrDef] | None = ...,
        summary: builtins.str | None = ...,
        description: builtins.str | None = ...,
        deprecation: OpDeprecation | collections.abc.Mapping[str, typing.Any] | None = ...,
        is_aggregate: builtins.bool | None = ...,
        is_stateful: builtins.bool | None = ...,
        is_commutative: builtins.bool | None = ...,
        allows_uninitialized_input: builtins.bool | None = ...,
        control_output: collections.abc.Iterable[builtins.str] | None = ...,
        is_distributed_communication: builtins.bool | None = ...,
    ) -> None: ...

class OpList(Message):
    @property
    def op(self) -> RepeatedCompositeFieldContainer[OpDef]: ...
    def __init__(
        self,
        *,
        op: collections.abc.Iterable[OpDef] | None = ...,
    ) -> None: ...

class OpDeprecation(Message):
    version: builtins.int
    explanation: builtins.str
    def __init__(
        self,
        *,
        version: builtins.int | None = ...,
        explanation: builtins.str | None = ...,
    ) -> None: ...

class GraphDebugInfo(Message):
    class FileLineCol(Message):
        file_index: builtins.int
        line: builtins.int
        col: builtins.int
        func: builtins.str
        code: builtins.str
        def __init__(
            self,
            *,
            file_index: builtins.int | None = ...,
            line: builtins.int | None = ...,
            col: builtins.int | None = ...,
            func: builtins.str | None = ...,
            code: builtins.str | None = ...,
        ) -> None: ...
    class StackTrace(Message):
        @property
        def file_line_cols(self) -> RepeatedCompositeFieldContainer[GraphDebugInfo.FileLineCol]: ...
        @property
        def frame_id(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
        def __init__(
            self,
            *,
            file_line_cols: collections.abc.Iterable[GraphDebugInfo.FileLineCol] | None = ...,
            frame_id: collections.abc.Iterable[builtins.int] | None = ...,
        ) -> None: ...
    @property
    def files(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def traces(self) -> MessageMap[builtins.str, GraphDebugInfo.StackTrace]: ...
    @property
    def frames_by_id(self) -> MessageMap[builtins.int, GraphDebugInfo.FileLineCol]: ...
    @property
    def name_to_trace_id(self) -> ScalarMap[builtins.str, builtins.int]: ...
    @property
    def traces_by_id(self) -> MessageMap[builtins.int, GraphDebugInfo.StackTrace]: ...
    def __init__(
        self,
        *,
        files: collections.abc.Iterable[builtins.str] | None = ...,
        traces: collections.abc.Mapping[builtins.str, GraphDebugInfo.StackTrace] | None = ...,
        frames_by_id: collections.abc.Mapping[builtins.int, GraphDebugInfo.FileLineCol] | None = ...,
        name_to_trace_id: collections.abc.Mapping[builtins.str, builtins.int] | None = ...,
        traces_by_id: collections.abc.Mapping[builtins.int, GraphDebugInfo.StackTrace] | None = ...,
    ) -> None: ...

class _FftType(EnumTypeWrapper):
    FFT: builtins.int
    IFFT: builtins.int
    RFFT: builtins.int
    IRFFT: builtins.int

FftType: _FftType

class _PrimitiveType(EnumTypeWrapper):
    PRIMITIVE_TYPE_INVALID: builtins.int
    PRED: builtins.int
    S1: builtins.int
    S2: builtins.int
    S4: builtins.int
    S8: builtins.int
    S16: builtins.int
    S32: builtins.int
    S64: builtins.int
    U1: builtins.int
    U2: builtins.int
    U4: builtins.int
    U8: builtins.int
    U16: builtins.int
    U32: builtins.int
    U64: builtins.int
    F16: builtins.int
    F32: builtins.int
    BF16: builtins.int
    F64: builtins.int
    F8E5M2: builtins.int
    F8E4M3: builtins.int
    F8E4M3FN: builtins.int
    F8E4M3B11FNUZ: builtins.int
    F8E3M4: builtins.int
    F8E5M2FNUZ: builtins.int
    F8E4M3FNUZ: builtins.int
    F4E2M1FN: builtins.int
    F8E8M0FNU: builtins.int
    C64: builtins.int
    C128: builtins.int
    TUPLE: builtins.int
    OPAQUE_TYPE: builtins.int
    TOKEN: builtins.int
    BUFFER: builtins.int

PrimitiveType: _PrimitiveType

class HloProto(Message):
    @property
    def hlo_module(self) -> HloModuleProto: ...
    @property
    def buffer_assignment(self) -> BufferAssignmentProto: ...
    def __init__(
        self,
        *,
        hlo_module: HloModuleProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        buffer_assignment: BufferAssignmentProto | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class NamedShardingProto(Message):
    class DimensionSharding(Message):
        @property
        def axes(self) -> RepeatedCompositeFieldContainer[AxisRefProto]: ...
        is_closed: builtins.bool
        def __init__(
            self,
            *,
            axes: collections.abc.Iterable[AxisRefProto] | None = ...,
            is_closed: builtins.bool | None = ...,
        ) -> None: ...
    @property
    def mesh(self) -> MeshProto: ...
    @property
    def dim_shardings(self) -> RepeatedCompositeFieldContainer[NamedShardingProto.DimensionSharding]: ...
    def __init__(
        self,
        *,
        mesh: MeshProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        dim_shardings: collections.abc.Iterable[NamedShardingProto.DimensionSharding] | None = ...,
    ) -> None: ...

class OpSharding(Message):
    REPLICATED: typing.Final = 0
    MAXIMAL: typing.Final = 1
    TUPLE: typing.Final = 2
    OTHER: typing.Final = 3
    MANUAL: typing.Final = 4
    UNKNOWN: typing.Final = 5
    UNREDUCED: typing.Final = 6
    type: builtins.int
    @property
    def tile_assignment_dimensions(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def tile_assignment_devices(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    replicate_on_last_tile_dim: builtins.bool
    @property
    def last_tile_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def iota_reshape_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def iota_transpose_perm(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def named_sharding(self) -> NamedShardingProto: ...
    def __init__(
        self,
        *,
        type: builtins.int | None = ...,
        tile_assignment_dimensions: collections.abc.Iterable[builtins.int] | None = ...,
        tile_assignment_devices: collections.abc.Iterable[builtins.int] | None = ...,
        replicate_on_last_tile_dim: builtins.bool | None = ...,
        last_tile_dims: collections.abc.Iterable[builtins.int] | None = ...,
        iota_reshape_dims: collections.abc.Iterable[builtins.int] | None = ...,
        iota_transpose_perm: collections.abc.Iterable[builtins.int] | None = ...,
        named_sharding: NamedShardingProto | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class HloModuleProto(Message):
    name: builtins.str
    entry_computation_name: builtins.str
    entry_computation_id: builtins.int
    @property
    def computations(self) -> RepeatedCompositeFieldContainer[HloComputationProto]: ...
    id: builtins.int
    @property
    def schedule(self) -> HloScheduleProto: ...
    @property
    def spmd_parameters_shardings(self) -> RepeatedCompositeFieldContainer[OpSharding]: ...
    @property
    def stack_frame_index(self) -> StackFrameIndexProto: ...
    @property
    def frontend_attributes(self) -> FrontendAttributes: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        entry_computation_name: builtins.str | None = ...,
        entry_computation_id: builtins.int | None = ...,
        computations: collections.abc.Iterable[HloComputationProto] | None = ...,
        id: builtins.int | None = ...,
        schedule: HloScheduleProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        spmd_parameters_shardings: collections.abc.Iterable[OpSharding] | None = ...,
        stack_frame_index: StackFrameIndexProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        frontend_attributes: FrontendAttributes | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class HloComputationProto(Message):
    name: builtins.str
    @property
    def instructions(self) -> RepeatedCompositeFieldContainer[HloInstructionProto]: ...
    id: builtins.int
    root_id: builtins.int
    is_fusion_computation: builtins.bool
    execution_thread: builtins.str
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        instructions: collections.abc.Iterable[HloInstructionProto] | None = ...,
        id: builtins.int | None = ...,
        root_id: builtins.int | None = ...,
        is_fusion_computation: builtins.bool | None = ...,
        execution_thread: builtins.str | None = ...,
    ) -> None: ...

class HloInstructionProto(Message):
    class SliceDimensions(Message):
        start: builtins.int
        limit: builtins.int
        stride: builtins.int
        def __init__(
            self,
            *,
            start: builtins.int | None = ...,
            limit: builtins.int | None = ...,
            stride: builtins.int | None = ...,
        ) -> None: ...
    name: builtins.str
    opcode: builtins.str
    @property
    def shape(self) -> ShapeProto: ...
    @property
    def metadata(self) -> OpMetadata: ...
    @property
    def literal(self) -> LiteralProto: ...
    parameter_number: builtins.int
    fusion_kind: builtins.str
    tuple_index: builtins.int
    @property
    def dimensions(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def window(self) -> Window: ...
    @property
    def convolution_dimension_numbers(self) -> ConvolutionDimensionNumbers: ...
    feature_group_count: builtins.int
    batch_group_count: builtins.int
    @property
    def slice_dimensions(self) -> RepeatedCompositeFieldContainer[HloInstructionProto.SliceDimensions]: ...
    @property
    def padding_config(self) -> PaddingConfig: ...
    channel_id: builtins.int
    custom_call_target: builtins.str
    @property
    def dot_dimension_numbers(self) -> DotDimensionNumbers: ...
    fft_type: builtins.int
    @property
    def fft_length(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    comparison_direction: builtins.str
    @property
    def gather_dimension_numbers(self) -> GatherDimensionNumbers: ...
    @property
    def gather_slice_sizes(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    id: builtins.int
    @property
    def operand_ids(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def control_predecessor_ids(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def called_computation_ids(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    backend_config: builtins.bytes
    @property
    def replica_groups(self) -> RepeatedCompositeFieldContainer[ReplicaGroup]: ...
    @property
    def collective_device_list(self) -> CollectiveDeviceListProto: ...
    @property
    def iota_collective_device_list(self) -> IotaReplicaGroupListProto: ...
    @property
    def mesh_axes_replica_group_list(self) -> MeshAxesReplicaGroupListProto: ...
    all_reduce_id: builtins.int
    use_global_device_ids: builtins.bool
    is_stable: builtins.bool
    @property
    def scatter_dimension_numbers(self) -> ScatterDimensionNumbers: ...
    @property
    def source_target_pairs(self) -> RepeatedCompositeFieldContainer[SourceTarget]: ...
    @property
    def frontend_attributes(self) -> FrontendAttributes: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        opcode: builtins.str | None = ...,
        shape: ShapeProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        metadata: OpMetadata | collections.abc.Mapping[str, typing.Any] | None = ...,
        literal: LiteralProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        parameter_number: builtins.int | None = ...,
        fusion_kind: builtins.str | None = ...,
        tuple_index: builtins.int | None = ...,
        dimensions: collections.abc.Iterable[builtins.int] | None = ...,
        window: Window | collections.abc.Mapping[str, typing.Any] | None = ...,
        convolution_dimension_numbers: ConvolutionDimensionNumbers | collections.abc.Mapping[str, typing.Any] | None = ...,
        feature_group_count: builtins.int | None = ...,
        batch_group_count: builtins.int | None = ...,
        slice_dimensions: collections.abc.Iterable[HloInstructionProto.SliceDimensions] | None = ...,
        padding_config: PaddingConfig | collections.abc.Mapping[str, typing.Any] | None = ...,
        channel_id: builtins.int | None = ...,
        custom_call_target: builtins.str | None = ...,
        dot_dimension_numbers: DotDimensionNumbers | collections.abc.Mapping[str, typing.Any] | None = ...,
        fft_type: builtins.int | None = ...,
        fft_length: collections.abc.Iterable[builtins.int] | None = ...,
        comparison_direction: builtins.str | None = ...,
        gather_dimension_numbers: GatherDimensionNumbers | collections.abc.Mapping[str, typing.Any] | None = ...,
        gather_slice_sizes: collections.abc.Iterable[builtins.int] | None = ...,
        id: builtins.int | None = ...,
        operand_ids: collections.abc.Iterable[builtins.int] | None = ...,
        control_predecessor_ids: collections.abc.Iterable[builtins.int] | None = ...,
        called_computation_ids: collections.abc.Iterable[builtins.int] | None = ...,
        backend_config: builtins.bytes | None = ...,
        replica_groups: collections.abc.Iterable[ReplicaGroup] | None = ...,
        collective_device_list: CollectiveDeviceListProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        iota_collective_device_list: IotaReplicaGroupListProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        mesh_axes_replica_group_list: MeshAxesReplicaGroupListProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        all_reduce_id: builtins.int | None = ...,
        use_global_device_ids: builtins.bool | None = ...,
        is_stable: builtins.bool | None = ...,
        scatter_dimension_numbers: ScatterDimensionNumbers | collections.abc.Mapping[str, typing.Any] | None = ...,
        source_target_pairs: collections.abc.Iterable[SourceTarget] | None = ...,
        frontend_attributes: FrontendAttributes | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class HloScheduleProto(Message):
    class InstructionSequence(Message):
        @property
        def instruction_ids(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
        def __init__(
            self,
            *,
            instruction_ids: collections.abc.Iterable[builtins.int] | None = ...,
        ) -> None: ...
    @property
    def sequences(self) -> MessageMap[builtins.int, HloScheduleProto.InstructionSequence]: ...
    def __init__(
        self,
        *,
        sequences: collections.abc.Mapping[builtins.int, HloScheduleProto.InstructionSequence] | None = ...,
    ) -> None: ...

class StackFrameIndexProto(Message):
    class FileLocation(Message):
        file_name_id: builtins.int
        function_name_id: builtins.int
        line: builtins.int
        end_line: builtins.int
        column: builtins.int
        end_column: builtins.int
        def __init__(
            self,
            *,
            file_name_id: builtins.int | None = ...,
            function_name_id: builtins.int | None = ...,
            line: builtins.int | None = ...,
            end_line: builtins.int | None = ...,
            column: builtins.int | None = ...,
            end_column: builtins.int | None = ...,
        ) -> None: ...
    class StackFrame(Message):
        file_location_id: builtins.int
        parent_frame_id: builtins.int
        def __init__(
            self,
            *,
            file_location_id: builtins.int | None = ...,
            parent_frame_id: builtins.int | None = ...,
        ) -> None: ...
    @property
    def file_names(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def function_names(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def file_locations(self) -> RepeatedCompositeFieldContainer[StackFrameIndexProto.FileLocation]: ...
    @property
    def stack_frames(self) -> RepeatedCompositeFieldContainer[StackFrameIndexProto.StackFrame]: ...
    def __init__(
        self,
        *,
        file_names: collections.abc.Iterable[builtins.str] | None = ...,
        function_names: collections.abc.Iterable[builtins.str] | None = ...,
        file_locations: collections.abc.Iterable[StackFrameIndexProto.FileLocation] | None = ...,
        stack_frames: collections.abc.Iterable[StackFrameIndexProto.StackFrame] | None = ...,
    ) -> None: ...

class LogicalBufferProto(Message):
    class Location(Message):
        instruction_name: builtins.str
        instruction_id: builtins.int
        @property
        def shape_index(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
        def __init__(
            self,
            *,
            instruction_name: builtins.str | None = ...,
            instruction_id: builtins.int | None = ...,
            shape_index: collections.abc.Iterable[builtins.int] | None = ...,
        ) -> None: ...
    id: builtins.int
    size: builtins.int
    @property
    def defined_at(self) -> LogicalBufferProto.Location: ...
    color: builtins.int
    def __init__(
        self,
        *,
        id: builtins.int | None = ...,
        size: builtins.int | None = ...,
        defined_at: LogicalBufferProto.Location | collections.abc.Mapping[str, typing.Any] | None = ...,
        color: builtins.int | None = ...,
    ) -> None: ...

class BufferAllocationProto(Message):
    class Assigned(Message):
        logical_buffer_id: builtins.int
        offset: builtins.int
        size: builtins.int
        element_type: builtins.int
        def __init__(
            self,
            *,
            logical_buffer_id: builtins.int | None = ...,
            offset: builtins.int | None = ...,
            size: builtins.int | None = ...,
            element_type: builtins.int | None = ...,
        ) -> None: ...
    index: builtins.int
    size: builtins.int
    is_thread_local: builtins.bool
    is_tuple: builtins.bool
    is_entry_computation_parameter: builtins.bool
    is_constant: builtins.bool
    parameter_number: builtins.int
    @property
    def parameter_shape_index(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    is_parameter_aliased_with_output: builtins.bool
    maybe_live_out: builtins.bool
    color: builtins.int
    @property
    def assigned(self) -> RepeatedCompositeFieldContainer[BufferAllocationProto.Assigned]: ...
    def __init__(
        self,
        *,
        index: builtins.int | None = ...,
        size: builtins.int | None = ...,
        is_thread_local: builtins.bool | None = ...,
        is_tuple: builtins.bool | None = ...,
        is_entry_computation_parameter: builtins.bool | None = ...,
        is_constant: builtins.bool | None = ...,
        parameter_number: builtins.int | None = ...,
        parameter_shape_index: collections.abc.Iterable[builtins.int] | None = ...,
        is_parameter_aliased_with_output: builtins.bool | None = ...,
        maybe_live_out: builtins.bool | None = ...,
        color: builtins.int | None = ...,
        assigned: collections.abc.Iterable[BufferAllocationProto.Assigned] | None = ...,
    ) -> None: ...

class HeapSimulatorTrace(Message):
    class Event(Message):
        ALLOC: typing.Final = 0
        FREE: typing.Final = 1
        SHARE_WITH: typing.Final = 2
        kind: builtins.int
        buffer_id: builtins.int
        computation_name: builtins.str
        instruction_name: builtins.str
        share_with_canonical_id: builtins.int
        def __init__(
            self,
            *,
            kind: builtins.int | None = ...,
            buffer_id: builtins.int | None = ...,
            computation_name: builtins.str | None = ...,
            instruction_name: builtins.str | None = ...,
            share_with_canonical_id: builtins.int | None = ...,
        ) -> None: ...
    @property
    def events(self) -> RepeatedCompositeFieldContainer[HeapSimulatorTrace.Event]: ...
    whole_module_simulation: builtins.bool
    buffer_allocation_index: builtins.int
    def __init__(
        self,
        *,
        events: collections.abc.Iterable[HeapSimulatorTrace.Event] | None = ...,
        whole_module_simulation: builtins.bool | None = ...,
        buffer_allocation_index: builtins.int | None = ...,
    ) -> None: ...

class BufferAssignmentProto(Message):
    @property
    def logical_buffers(self) -> RepeatedCompositeFieldContainer[LogicalBufferProto]: ...
    @property
    def buffer_allocations(self) -> RepeatedCompositeFieldContainer[BufferAllocationProto]: ...
    @property
    def heap_simulator_traces(self) -> RepeatedCompositeFieldContainer[HeapSimulatorTrace]: ...
    def __init__(
        self,
        *,
        logical_buffers: collections.abc.Iterable[LogicalBufferProto] | None = ...,
        buffer_allocations: collections.abc.Iterable[BufferAllocationProto] | None = ...,
        heap_simulator_traces: collections.abc.Iterable[HeapSimulatorTrace] | None = ...,
    ) -> None: ...

class OpMetadata(Message):
    op_type: builtins.str
    op_name: builtins.str
    source_file: builtins.str
    source_line: builtins.int
    source_end_line: builtins.int
    source_column: builtins.int
    source_end_column: builtins.int
    deduplicated_name: builtins.str
    stack_frame_id: builtins.int
    def __init__(
        self,
        *,
        op_type: builtins.str | None = ...,
        op_name: builtins.str | None = ...,
        source_file: builtins.str | None = ...,
        source_line: builtins.int | None = ...,
        source_end_line: builtins.int | None = ...,
        source_column: builtins.int | None = ...,
        source_end_column: builtins.int | None = ...,
        deduplicated_name: builtins.str | None = ...,
        stack_frame_id: builtins.int | None = ...,
    ) -> None: ...

class ShapeProto(Message):
    element_type: builtins.int
    @property
    def dimensions(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def is_dynamic_dimension(self) -> RepeatedScalarFieldContainer[builtins.bool]: ...
    @property
    def tuple_shapes(self) -> RepeatedCompositeFieldContainer[ShapeProto]: ...
    @property
    def layout(self) -> LayoutProto: ...
    def __init__(
        self,
        *,
        element_type: builtins.int | None = ...,
        dimensions: collections.abc.Iterable[builtins.int] | None = ...,
        is_dynamic_dimension: collections.abc.Iterable[builtins.bool] | None = ...,
        tuple_shapes: collections.abc.Iterable[ShapeProto] | None = ...,
        layout: LayoutProto | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class LayoutProto(Message):
    @property
    def minor_to_major(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def tiles(self) -> RepeatedCompositeFieldContainer[TileProto]: ...
    tail_padding_alignment_in_elements: builtins.int
    element_size_in_bits: builtins.int
    memory_space: builtins.int
    def __init__(
        self,
        *,
        minor_to_major: collections.abc.Iterable[builtins.int] | None = ...,
        tiles: collections.abc.Iterable[TileProto] | None = ...,
        tail_padding_alignment_in_elements: builtins.int | None = ...,
        element_size_in_bits: builtins.int | None = ...,
        memory_space: builtins.int | None = ...,
    ) -> None: ...

class TileProto(Message):
    @property
    def dimensions(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        dimensions: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class LiteralProto(Message):
    @property
    def shape(self) -> ShapeProto: ...
    @property
    def preds(self) -> RepeatedScalarFieldContainer[builtins.bool]: ...
    @property
    def s32s(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def s64s(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def u32s(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def u64s(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def f32s(self) -> RepeatedScalarFieldContainer[builtins.float]: ...
    @property
    def f64s(self) -> RepeatedScalarFieldContainer[builtins.float]: ...
    @property
    def tuple_literals(self) -> RepeatedCompositeFieldContainer[LiteralProto]: ...
    def __init__(
        self,
        *,
        shape: ShapeProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        preds: collections.abc.Iterable[builtins.bool] | None = ...,
        s32s: collections.abc.Iterable[builtins.int] | None = ...,
        s64s: collections.abc.Iterable[builtins.int] | None = ...,
        u32s: collections.abc.Iterable[builtins.int] | None = ...,
        u64s: collections.abc.Iterable[builtins.int] | None = ...,
        f32s: collections.abc.Iterable[builtins.float] | None = ...,
        f64s: collections.abc.Iterable[builtins.float] | None = ...,
        tuple_literals: collections.abc.Iterable[LiteralProto] | None = ...,
    ) -> None: ...

class WindowDimension(Message):
    size: builtins.int
    stride: builtins.int
    padding_low: builtins.int
    padding_high: builtins.int
    window_dilation: builtins.int
    base_dilation: builtins.int
    window_reversal: builtins.bool
    def __init__(
        self,
        *,
        size: builtins.int | None = ...,
        stride: builtins.int | None = ...,
        padding_low: builtins.int | None = ...,
        padding_high: builtins.int | None = ...,
        window_dilation: builtins.int | None = ...,
        base_dilation: builtins.int | None = ...,
        window_reversal: builtins.bool | None = ...,
    ) -> None: ...

class Window(Message):
    @property
    def dimensions(self) -> RepeatedCompositeFieldContainer[WindowDimension]: ...
    def __init__(
        self,
        *,
        dimensions: collections.abc.Iterable[WindowDimension] | None = ...,
    ) -> None: ...

class PaddingConfig(Message):
    class PaddingConfigDimension(Message):
        edge_padding_low: builtins.int
        edge_padding_high: builtins.int
        interior_padding: builtins.int
        def __init__(
            self,
            *,
            edge_padding_low: builtins.int | None = ...,
            edge_padding_high: builtins.int | None = ...,
            interior_padding: builtins.int | None = ...,
        ) -> None: ...
    @property
    def dimensions(self) -> RepeatedCompositeFieldContainer[PaddingConfig.PaddingConfigDimension]: ...
    def __init__(
        self,
        *,
        dimensions: collections.abc.Iterable[PaddingConfig.PaddingConfigDimension] | None = ...,
    ) -> None: ...

class ConvolutionDimensionNumbers(Message):
    input_batch_dimension: builtins.int
    input_feature_dimension: builtins.int
    @property
    def input_spatial_dimensions(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    kernel_input_feature_dimension: builtins.int
    kernel_output_feature_dimension: builtins.int
    @property
    def kernel_spatial_dimensions(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    output_batch_dimension: builtins.int
    output_feature_dimension: builtins.int
    @property
    def output_spatial_dimensions(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        input_batch_dimension: builtins.int | None = ...,
        input_feature_dimension: builtins.int | None = ...,
        input_spatial_dimensions: collections.abc.Iterable[builtins.int] | None = ...,
        kernel_input_feature_dimension: builtins.int | None = ...,
        kernel_output_feature_dimension: builtins.int | None = ...,
        kernel_spatial_dimensions: collections.abc.Iterable[builtins.int] | None = ...,
        output_batch_dimension: builtins.int | None = ...,
        output_feature_dimension: builtins.int | None = ...,
        output_spatial_dimensions: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class DotDimensionNumbers(Message):
    @property
    def lhs_contracting_dimensions(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def rhs_contracting_dimensions(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def lhs_batch_dimensions(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def rhs_batch_dimensions(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        lhs_contracting_dimensions: collections.abc.Iterable[builtins.int] | None = ...,
        rhs_contracting_dimensions: collections.abc.Iterable[builtins.int] | None = ...,
        lhs_batch_dimensions: collections.abc.Iterable[builtins.int] | None = ...,
        rhs_batch_dimensions: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class GatherDimensionNumbers(Message):
    @property
    def offset_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def collapsed_slice_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def start_index_map(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    index_vector_dim: builtins.int
    @property
    def operand_batching_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def start_indices_batching_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        offset_dims: collections.abc.Iterable[builtins.int] | None = ...,
        collapsed_slice_dims: collections.abc.Iterable[builtins.int] | None = ...,
        start_index_map: collections.abc.Iterable[builtins.int] | None = ...,
        index_vector_dim: builtins.int | None = ...,
        operand_batching_dims: collections.abc.Iterable[builtins.int] | None = ...,
        start_indices_batching_dims: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class ScatterDimensionNumbers(Message):
    @property
    def update_window_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def inserted_window_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def scatter_dims_to_operand_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    index_vector_dim: builtins.int
    @property
    def input_batching_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def scatter_indices_batching_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        update_window_dims: collections.abc.Iterable[builtins.int] | None = ...,
        inserted_window_dims: collections.abc.Iterable[builtins.int] | None = ...,
        scatter_dims_to_operand_dims: collections.abc.Iterable[builtins.int] | None = ...,
        index_vector_dim: builtins.int | None = ...,
        input_batching_dims: collections.abc.Iterable[builtins.int] | None = ...,
        scatter_indices_batching_dims: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class ReplicaGroup(Message):
    @property
    def replica_ids(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        replica_ids: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class IotaReplicaGroupListProto(Message):
    num_replica_groups: builtins.int
    num_devices_per_group: builtins.int
    @property
    def iota_reshape_dims(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def iota_transpose_perm(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        num_replica_groups: builtins.int | None = ...,
        num_devices_per_group: builtins.int | None = ...,
        iota_reshape_dims: collections.abc.Iterable[builtins.int] | None = ...,
        iota_transpose_perm: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class CollectiveDeviceListProto(Message):
    @property
    def replica_groups(self) -> RepeatedCompositeFieldContainer[ReplicaGroup]: ...
    @property
    def iota_replica_group_list(self) -> IotaReplicaGroupListProto: ...
    def __init__(
        self,
        *,
        replica_groups: collections.abc.Iterable[ReplicaGroup] | None = ...,
        iota_replica_group_list: IotaReplicaGroupListProto | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class MeshProto(Message):
    class MeshAxis(Message):
        name: builtins.str
        size: builtins.int
        def __init__(
            self,
            *,
            name: builtins.str | None = ...,
            size: builtins.int | None = ...,
        ) -> None: ...
    @property
    def axes(self) -> RepeatedCompositeFieldContainer[MeshProto.MeshAxis]: ...
    @property
    def device_ids(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        axes: collections.abc.Iterable[MeshProto.MeshAxis] | None = ...,
        device_ids: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class AxisRefProto(Message):
    class SubAxis(Message):
        pre_size: builtins.int
        size: builtins.int
        def __init__(
            self,
            *,
            pre_size: builtins.int | None = ...,
            size: builtins.int | None = ...,
        ) -> None: ...
    mesh_axis_index: builtins.int
    @property
    def sub_axis_info(self) -> AxisRefProto.SubAxis: ...
    def __init__(
        self,
        *,
        mesh_axis_index: builtins.int | None = ...,
        sub_axis_info: AxisRefProto.SubAxis | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class MeshAxesReplicaGroupListProto(Message):
    @property
    def mesh(self) -> MeshProto: ...
    @property
    def axes(self) -> RepeatedCompositeFieldContainer[AxisRefProto]: ...
    def __init__(
        self,
        *,
        mesh: MeshProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        axes: collections.abc.Iterable[AxisRefProto] | None = ...,
    ) -> None: ...

class SourceTarget(Message):
    source: builtins.int
    target: builtins.int
    def __init__(
        self,
        *,
        source: builtins.int | None = ...,
        target: builtins.int | None = ...,
    ) -> None: ...

class FrontendAttributes(Message):
    @property
    def map(self) -> ScalarMap[builtins.str, builtins.str]: ...
    def __init__(
        self,
        *,
        map: collections.abc.Mapping[builtins.str, builtins.str] | None = ...,
    ) -> None: ...

class PackedMessage(Message):
    type_url: builtins.str
    value: builtins.bytes
    def __init__(
        self,
        *,
        type_url: builtins.str | None = ...,
        value: builtins.bytes | None = ...,
    ) -> None: ...

class Diagnostics(Message):
    @property
    def info(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def warnings(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def errors(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    def __init__(
        self,
        *,
        info: collections.abc.Iterable[builtins.str] | None = ...,
        warnings: collections.abc.Iterable[builtins.str] | None = ...,
        errors: collections.abc.Iterable[builtins.str] | None = ...,
    ) -> None: ...

class StepSummary(Message):
    average: builtins.float
    standard_deviation: builtins.float
    minimum: builtins.float
    maximum: builtins.float
    def __init__(
        self,
        *,
        average: builtins.float | None = ...,
        standard_deviation: builtins.float | None = ...,
        minimum: builtins.float | None = ...,
        maximum: builtins.float | None = ...,
    ) -> None: ...

class OverviewPage(Message):
    @property
    def input_analysis(self) -> InputPipelineAnalysisResult: ...
    @property
    def analysis(self) -> OverviewPageAnalysis: ...
    @property
    def recommendation(self) -> OverviewPageRecommendation: ...
    @property
    def run_environment(self) -> OverviewPageRunEnvironment: ...
    @property
    def diagnostics(self) -> Diagnostics: ...
    def __init__(
        self,
        *,
        input_analysis: InputPipelineAnalysisResult | collections.abc.Mapping[str, typing.Any] | None = ...,
        analysis: OverviewPageAnalysis | collections.abc.Mapping[str, typing.Any] | None = ...,
        recommendation: OverviewPageRecommendation | collections.abc.Mapping[str, typing.Any] | None = ...,
        run_environment: OverviewPageRunEnvironment | collections.abc.Mapping[str, typing.Any] | None = ...,
        diagnostics: Diagnostics | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class OverviewTfOp(Message):
    name: builtins.str
    category: builtins.str
    self_time_fraction: builtins.float
    cumulative_time_fraction: builtins.float
    flop_rate: builtins.float
    is_op_tensorcore_eligible: builtins.bool
    is_op_using_tensorcore: builtins.bool
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        category: builtins.str | None = ...,
        self_time_fraction: builtins.float | None = ...,
        cumulative_time_fraction: builtins.float | None = ...,
        flop_rate: builtins.float | None = ...,
        is_op_tensorcore_eligible: builtins.bool | None = ...,
        is_op_using_tensorcore: builtins.bool | None = ...,
    ) -> None: ...

class OverviewPageAnalysis(Message):
    mxu_utilization_percent: builtins.float
    device_idle_time_percent: builtins.float
    host_idle_time_percent: builtins.float
    @property
    def top_device_ops(self) -> RepeatedCompositeFieldContainer[OverviewTfOp]: ...
    remark_text: builtins.str
    remark_color: builtins.str
    flop_rate_utilization_relative_to_roofline_percent: builtins.float
    memory_bw_utilization_relative_to_hw_limit_percent: builtins.float
    device_compute_16bit_percent: builtins.float
    device_compute_32bit_percent: builtins.float
    host_tf_op_percent: builtins.float
    device_tf_op_percent: builtins.float
    host_trace_level: builtins.int
    host_op_time_eager_percent: builtins.float
    device_op_time_eager_percent: builtins.float
    device_op_time_outside_compilation_percent: builtins.float
    device_duty_cycle_percent: builtins.float
    def __init__(
        self,
        *,
        mxu_utilization_percent: builtins.float | None = ...,
        device_idle_time_percent: builtins.float | None = ...,
        host_idle_time_percent: builtins.float | None = ...,
        top_device_ops: collections.abc.Iterable[OverviewTfOp] | None = ...,
        remark_text: builtins.str | None = ...,
        remark_color: builtins.str | None = ...,
        flop_rate_utilization_relative_to_roofline_percent: builtins.float | None = ...,
        memory_bw_utilization_relative_to_hw_limit_percent: builtins.float | None = ...,
        device_compute_16bit_percent: builtins.float | None = ...,
        device_compute_32bit_percent: builtins.float | None = ...,
        host_tf_op_percent: builtins.float | None = ...,
        device_tf_op_percent: builtins.float | None = ...,
        host_trace_level: builtins.int | None = ...,
        host_op_time_eager_percent: builtins.float | None = ...,
        device_op_time_eager_percent: builtins.float | None = ...,
        device_op_time_outside_compilation_percent: builtins.float | None = ...,
        device_duty_cycle_percent: builtins.float | None = ...,
    ) -> None: ...

class OverviewPageTip(Message):
    link: builtins.str
    def __init__(
        self,
        *,
        link: builtins.str | None = ...,
    ) -> None: ...

class GenericRecommendation(Message):
    kernel_launch_bottleneck: builtins.str
    kernel_launch_statement: builtins.str
    all_other_bottleneck: builtins.str
    all_other_statement: builtins.str
    precision_statement: builtins.str
    device_collectives_bottleneck: builtins.str
    device_collectives_statement: builtins.str
    def __init__(
        self,
        *,
        kernel_launch_bottleneck: builtins.str | None = ...,
        kernel_launch_statement: builtins.str | None = ...,
        all_other_bottleneck: builtins.str | None = ...,
        all_other_statement: builtins.str | None = ...,
        precision_statement: builtins.str | None = ...,
        device_collectives_bottleneck: builtins.str | None = ...,
        device_collectives_statement: builtins.str | None = ...,
    ) -> None: ...

class OverviewPageRecommendation(Message):
    bottleneck: builtins.str
    statement: builtins.str
    @property
    def host_tips(self) -> RepeatedCompositeFieldContainer[OverviewPageTip]: ...
    @property
    def device_tips(self) -> RepeatedCompositeFieldContainer[OverviewPageTip]: ...
    @property
    def documentation_tips(self) -> RepeatedCompositeFieldContainer[OverviewPageTip]: ...
    @property
    def recommendation(self) -> PackedMessage: ...
    @property
    def faq_tips(self) -> RepeatedCompositeFieldContainer[OverviewPageTip]: ...
    @property
    def inference_tips(self) -> RepeatedCompositeFieldContainer[OverviewPageTip]: ...
    output_statement: builtins.str
    tf_function_statement_html: builtins.str
    @property
    def input_tips(self) -> RepeatedCompositeFieldContainer[OverviewPageTip]: ...
    eager_statement_html: builtins.str
    outside_compilation_statement_html: builtins.str
    def __init__(
        self,
        *,
        bottleneck: builtins.str | None = ...,
        statement: builtins.str | None = ...,
        host_tips: collections.abc.Iterable[OverviewPageTip] | None = ...,
        device_tips: collections.abc.Iterable[OverviewPageTip] | None = ...,
        documentation_tips: collections.abc.Iterable[OverviewPageTip] | None = ...,
        recommendation: PackedMessage | collections.abc.Mapping[str, typing.Any] | None = ...,
        faq_tips: collections.abc.Iterable[OverviewPageTip] | None = ...,
        inference_tips: collections.abc.Iterable[OverviewPageTip] | None = ...,
        output_statement: builtins.str | None = ...,
        tf_function_statement_html: builtins.str | None = ...,
        input_tips: collections.abc.Iterable[OverviewPageTip] | None = ...,
        eager_statement_html: builtins.str | None = ...,
        outside_compilation_statement_html: builtins.str | None = ...,
    ) -> None: ...

class OverviewPageRunEnvironment(Message):
    host_count: builtins.int
    task_count: builtins.int
    @property
    def hostnames(self) -> ScalarMap[builtins.str, builtins.bool]: ...
    device_type: builtins.str
    device_core_count: builtins.int
    replica_count: builtins.int
    num_cores_per_replica: builtins.int
    is_training: builtins.bool
    def __init__(
        self,
        *,
        host_count: builtins.int | None = ...,
        task_count: builtins.int | None = ...,
        hostnames: collections.abc.Mapping[builtins.str, builtins.bool] | None = ...,
        device_type: builtins.str | None = ...,
        device_core_count: builtins.int | None = ...,
        replica_count: builtins.int | None = ...,
        num_cores_per_replica: builtins.int | None = ...,
        is_training: builtins.bool | None = ...,
    ) -> None: ...

class InputPipelineAnalysisResult(Message):
    @property
    def step_time_summary(self) -> StepSummary: ...
    @property
    def input_percent_summary(self) -> StepSummary: ...
    @property
    def step_details(self) -> RepeatedCompositeFieldContainer[PackedMessage]: ...
    @property
    def input_time_breakdown(self) -> InputTimeBreakdown: ...
    @property
    def input_op_details(self) -> RepeatedCompositeFieldContainer[InputOpDetails]: ...
    @property
    def recommendation(self) -> InputPipelineAnalysisRecommendation: ...
    @property
    def step_time_breakdown(self) -> PackedMessage: ...
    hardware_type: builtins.str
    input_percent: builtins.float
    @property
    def diagnostics(self) -> Diagnostics: ...
    output_percent: builtins.float
    idle_percent: builtins.float
    compute_percent: builtins.float
    def __init__(
        self,
        *,
        step_time_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        input_percent_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        step_details: collections.abc.Iterable[PackedMessage] | None = ...,
        input_time_breakdown: InputTimeBreakdown | collections.abc.Mapping[str, typing.Any] | None = ...,
        input_op_details: collections.abc.Iterable[InputOpDetails] | None = ...,
        recommendation: InputPipelineAnalysisRecommendation | collections.abc.Mapping[str, typing.Any] | None = ...,
        step_time_breakdown: PackedMessage | collections.abc.Mapping[str, typing.Any] | None = ...,
        hardware_type: builtins.str | None = ...,
        input_percent: builtins.float | None = ...,
        diagnostics: Diagnostics | collections.abc.Mapping[str, typing.Any] | None = ...,
        output_percent: builtins.float | None = ...,
        idle_percent: builtins.float | None = ...,
        compute_percent: builtins.float | None = ...,
    ) -> None: ...

class PerGenericStepDetails(Message):
    step_number: builtins.int
    step_time_ms: builtins.float
    unknown_time_ms: builtins.float
    output_ms: builtins.float
    device_compute_ms: builtins.float
    device_to_device_ms: builtins.float
    host_compute_ms: builtins.float
    host_prepare_ms: builtins.float
    host_compile_ms: builtins.float
    host_wait_input_ms: builtins.float
    host_to_device_ms: builtins.float
    device_collectives_ms: builtins.float
    step_name: builtins.str
    def __init__(
        self,
        *,
        step_number: builtins.int | None = ...,
        step_time_ms: builtins.float | None = ...,
        unknown_time_ms: builtins.float | None = ...,
        output_ms: builtins.float | None = ...,
        device_compute_ms: builtins.float | None = ...,
        device_to_device_ms: builtins.float | None = ...,
        host_compute_ms: builtins.float | None = ...,
        host_prepare_ms: builtins.float | None = ...,
        host_compile_ms: builtins.float | None = ...,
        host_wait_input_ms: builtins.float | None = ...,
        host_to_device_ms: builtins.float | None = ...,
        device_collectives_ms: builtins.float | None = ...,
        step_name: builtins.str | None = ...,
    ) -> None: ...

class GenericStepTimeBreakdown(Message):
    @property
    def unknown_time_ms_summary(self) -> StepSummary: ...
    @property
    def output_ms_summary(self) -> StepSummary: ...
    @property
    def device_compute_ms_summary(self) -> StepSummary: ...
    @property
    def device_to_device_ms_summary(self) -> StepSummary: ...
    @property
    def host_compute_ms_summary(self) -> StepSummary: ...
    @property
    def host_prepare_ms_summary(self) -> StepSummary: ...
    @property
    def host_compile_ms_summary(self) -> StepSummary: ...
    @property
    def host_wait_input_ms_summary(self) -> StepSummary: ...
    @property
    def host_to_device_ms_summary(self) -> StepSummary: ...
    @property
    def input_ms_summary(self) -> StepSummary: ...
    @property
    def device_collectives_ms_summary(self) -> StepSummary: ...
    def __init__(
        self,
        *,
        unknown_time_ms_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        output_ms_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        device_compute_ms_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        device_to_device_ms_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        host_compute_ms_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        host_prepare_ms_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        host_compile_ms_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        host_wait_input_ms_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        host_to_device_ms_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        input_ms_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
        device_collectives_ms_summary: StepSummary | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class InputTimeBreakdown(Message):
    demanded_file_read_us: builtins.float
    advanced_file_read_us: builtins.float
    preprocessing_us: builtins.float
    enqueue_us: builtins.float
    unclassified_non_enqueue_us: builtins.float
    def __init__(
        self,
        *,
        demanded_file_read_us: builtins.float | None = ...,
        advanced_file_read_us: builtins.float | None = ...,
        preprocessing_us: builtins.float | None = ...,
        enqueue_us: builtins.float | None = ...,
        unclassified_non_enqueue_us: builtins.float | None = ...,
    ) -> None: ...

class InputOpDetails(Message):
    op_name: builtins.str
    count: builtins.int
    time_in_ms: builtins.float
    time_in_percent: builtins.float
    self_time_in_ms: builtins.float
    self_time_in_percent: builtins.float
    category: builtins.str
    def __init__(
        self,
        *,
        op_name: builtins.str | None = ...,
        count: builtins.int | None = ...,
        time_in_ms: builtins.float | None = ...,
        time_in_percent: builtins.float | None = ...,
        self_time_in_ms: builtins.float | None = ...,
        self_time_in_percent: builtins.float | None = ...,
        category: builtins.str | None = ...,
    ) -> None: ...

class InputPipelineAnalysisRecommendation(Message):
    @property
    def details(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def bottleneck_analysis(self) -> PackedMessage: ...
    summary_next_step: builtins.str
    def __init__(
        self,
        *,
        details: collections.abc.Iterable[builtins.str] | None = ...,
        bottleneck_analysis: PackedMessage | collections.abc.Mapping[str, typing.Any] | None = ...,
        summary_next_step: builtins.str | None = ...,
    ) -> None: ...

class BottleneckAnalysis(Message):
    input_classification: builtins.str
    input_statement: builtins.str
    kernel_launch_classification: builtins.str
    kernel_launch_statement: builtins.str
    all_other_classification: builtins.str
    all_other_statement: builtins.str
    input_percent: builtins.float
    output_percent: builtins.float
    idle_percent: builtins.float
    compute_percent: builtins.float
    device_collectives_classification: builtins.str
    device_collectives_statement: builtins.str
    def __init__(
        self,
        *,
        input_classification: builtins.str | None = ...,
        input_statement: builtins.str | None = ...,
        kernel_launch_classification: builtins.str | None = ...,
        kernel_launch_statement: builtins.str | None = ...,
        all_other_classification: builtins.str | None = ...,
        all_other_statement: builtins.str | None = ...,
        input_percent: builtins.float | None = ...,
        output_percent: builtins.float | None = ...,
        idle_percent: builtins.float | None = ...,
        compute_percent: builtins.float | None = ...,
        device_collectives_classification: builtins.str | None = ...,
        device_collectives_statement: builtins.str | None = ...,
    ) -> None: ...

class TfStatsDatabase(Message):
    @property
    def with_idle(self) -> TfStatsTable: ...
    @property
    def without_idle(self) -> TfStatsTable: ...
    def __init__(
        self,
        *,
        with_idle: TfStatsTable | collections.abc.Mapping[str, typing.Any] | None = ...,
        without_idle: TfStatsTable | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class TfStatsTable(Message):
    @property
    def tf_stats_record(self) -> RepeatedCompositeFieldContainer[TfStatsRecord]: ...
    host_tf_pprof_key: builtins.str
    device_tf_pprof_key: builtins.str
    def __init__(
        self,
        *,
        tf_stats_record: collections.abc.Iterable[TfStatsRecord] | None = ...,
        host_tf_pprof_key: builtins.str | None = ...,
        device_tf_pprof_key: builtins.str | None = ...,
    ) -> None: ...

class TfStatsRecord(Message):
    rank: builtins.int
    host_or_device: builtins.str
    op_type: builtins.str
    op_name: builtins.str
    occurrences: builtins.int
    total_time_in_us: builtins.float
    avg_time_in_us: builtins.float
    total_self_time_in_us: builtins.float
    avg_self_time_in_us: builtins.float
    device_total_self_time_as_fraction: builtins.float
    device_cumulative_total_self_time_as_fraction: builtins.float
    host_total_self_time_as_fraction: builtins.float
    host_cumulative_total_self_time_as_fraction: builtins.float
    measured_flop_rate: builtins.float
    measured_memory_bw: builtins.float
    operational_intensity: builtins.float
    bound_by: builtins.str
    is_eager: builtins.bool
    gpu_tensorcore_utilization: builtins.float
    def __init__(
        self,
        *,
        rank: builtins.int | None = ...,
        host_or_device: builtins.str | None = ...,
        op_type: builtins.str | None = ...,
        op_name: builtins.str | None = ...,
        occurrences: builtins.int | None = ...,
        total_time_in_us: builtins.float | None = ...,
        avg_time_in_us: builtins.float | None = ...,
        total_self_time_in_us: builtins.float | None = ...,
        avg_self_time_in_us: builtins.float | None = ...,
        device_total_self_time_as_fraction: builtins.float | None = ...,
        device_cumulative_total_self_time_as_fraction: builtins.float | None = ...,
        host_total_self_time_as_fraction: builtins.float | None = ...,
        host_cumulative_total_self_time_as_fraction: builtins.float | None = ...,
        measured_flop_rate: builtins.float | None = ...,
        measured_memory_bw: builtins.float | None = ...,
        operational_intensity: builtins.float | None = ...,
        bound_by: builtins.str | None = ...,
        is_eager: builtins.bool | None = ...,
        gpu_tensorcore_utilization: builtins.float | None = ...,
    ) -> None: ...

class KernelStatsDb(Message):
    @property
    def reports(self) -> RepeatedCompositeFieldContainer[KernelReport]: ...
    def __init__(
        self,
        *,
        reports: collections.abc.Iterable[KernelReport] | None = ...,
    ) -> None: ...

class KernelReport(Message):
    name: builtins.str
    registers_per_thread: builtins.int
    static_shmem_bytes: builtins.int
    dynamic_shmem_bytes: builtins.int
    @property
    def block_dim(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def grid_dim(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    total_duration_ns: builtins.int
    min_duration_ns: builtins.int
    max_duration_ns: builtins.int
    is_kernel_using_tensor_core: builtins.bool
    is_op_tensor_core_eligible: builtins.bool
    op_name: builtins.str
    occurrences: builtins.int
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        registers_per_thread: builtins.int | None = ...,
        static_shmem_bytes: builtins.int | None = ...,
        dynamic_shmem_bytes: builtins.int | None = ...,
        block_dim: collections.abc.Iterable[builtins.int] | None = ...,
        grid_dim: collections.abc.Iterable[builtins.int] | None = ...,
        total_duration_ns: builtins.int | None = ...,
        min_duration_ns: builtins.int | None = ...,
        max_duration_ns: builtins.int | None = ...,
        is_kernel_using_tensor_core: builtins.bool | None = ...,
        is_op_tensor_core_eligible: builtins.bool | None = ...,
        op_name: builtins.str | None = ...,
        occurrences: builtins.int | None = ...,
    ) -> None: ...

class Trace(Message):
    @property
    def devices(self) -> MessageMap[builtins.int, Device]: ...
    @property
    def trace_events(self) -> RepeatedCompositeFieldContainer[TraceEvent]: ...
    def __init__(
        self,
        *,
        devices: collections.abc.Mapping[builtins.int, Device] | None = ...,
        trace_events: collections.abc.Iterable[TraceEvent] | None = ...,
    ) -> None: ...

class Device(Message):
    name: builtins.str
    device_id: builtins.int
    @property
    def resources(self) -> MessageMap[builtins.int, Resource]: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        device_id: builtins.int | None = ...,
        resources: collections.abc.Mapping[builtins.int, Resource] | None = ...,
    ) -> None: ...

class Resource(Message):
    name: builtins.str
    resource_id: builtins.int
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        resource_id: builtins.int | None = ...,
    ) -> None: ...

class TraceEvent(Message):
    device_id: builtins.int
    resource_id: builtins.int
    name: builtins.str
    timestamp_ps: builtins.int
    duration_ps: builtins.int
    @property
    def args(self) -> ScalarMap[builtins.str, builtins.str]: ...
    def __init__(
        self,
        *,
        device_id: builtins.int | None = ...,
        resource_id: builtins.int | None = ...,
        name: builtins.str | None = ...,
        timestamp_ps: builtins.int | None = ...,
        duration_ps: builtins.int | None = ...,
        args: collections.abc.Mapping[builtins.str, builtins.str] | None = ...,
    ) -> None: ...

class OptionsProto(Message):
    max_depth: builtins.int
    min_bytes: builtins.int
    min_micros: builtins.int
    min_params: builtins.int
    min_float_ops: builtins.int
    order_by: builtins.str
    @property
    def account_type_regexes(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def start_name_regexes(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def trim_name_regexes(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def show_name_regexes(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def hide_name_regexes(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    account_displayed_op_only: builtins.bool
    @property
    def select(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    output: builtins.str
    dump_to_file: builtins.str
    min_occurrence: builtins.int
    step: builtins.int
    min_peak_bytes: builtins.int
    min_residual_bytes: builtins.int
    min_output_bytes: builtins.int
    min_accelerator_micros: builtins.int
    min_cpu_micros: builtins.int
    def __init__(
        self,
        *,
        max_depth: builtins.int | None = ...,
        min_bytes: builtins.int | None = ...,
        min_micros: builtins.int | None = ...,
        min_params: builtins.int | None = ...,
        min_float_ops: builtins.int | None = ...,
        order_by: builtins.str | None = ...,
        account_type_regexes: collections.abc.Iterable[builtins.str] | None = ...,
        start_name_regexes: collections.abc.Iterable[builtins.str] | None = ...,
        trim_name_regexes: collections.abc.Iterable[builtins.str] | None = ...,
        show_name_regexes: collections.abc.Iterable[builtins.str] | None = ...,
        hide_name_regexes: collections.abc.Iterable[builtins.str] | None = ...,
        account_displayed_op_only: builtins.bool | None = ...,
        select: collections.abc.Iterable[builtins.str] | None = ...,
        output: builtins.str | None = ...,
        dump_to_file: builtins.str | None = ...,
        min_occurrence: builtins.int | None = ...,
        step: builtins.int | None = ...,
        min_peak_bytes: builtins.int | None = ...,
        min_residual_bytes: builtins.int | None = ...,
        min_output_bytes: builtins.int | None = ...,
        min_accelerator_micros: builtins.int | None = ...,
        min_cpu_micros: builtins.int | None = ...,
    ) -> None: ...

class AdvisorOptionsProto(Message):
    class CheckerOption(Message):
        @property
        def options(self) -> ScalarMap[builtins.str, builtins.str]: ...
        def __init__(
            self,
            *,
            options: collections.abc.Mapping[builtins.str, builtins.str] | None = ...,
        ) -> None: ...
    @property
    def checkers(self) -> MessageMap[builtins.str, AdvisorOptionsProto.CheckerOption]: ...
    def __init__(
        self,
        *,
        checkers: collections.abc.Mapping[builtins.str, AdvisorOptionsProto.CheckerOption] | None = ...,
    ) -> None: ...

class Otlp(Message):
    class ProfilesData(Message):
        @property
        def resource_profiles(self) -> RepeatedCompositeFieldContainer[Otlp.ResourceProfiles]: ...
        @property
        def dictionary(self) -> Otlp.ProfilesDictionary: ...
        def __init__(
            self,
            *,
            resource_profiles: collections.abc.Iterable[Otlp.ResourceProfiles] | None = ...,
            dictionary: Otlp.ProfilesDictionary | collections.abc.Mapping[str, typing.Any] | None = ...,
        ) -> None: ...
    class ProfilesDictionary(Message):
        @property
        def mapping_table(self) -> RepeatedCompositeFieldContainer[Otlp.Mapping]: ...
        @property
        def location_table(self) -> RepeatedCompositeFieldContainer[Otlp.Location]: ...
        @property
        def function_table(self) -> RepeatedCompositeFieldContainer[Otlp.Function]: ...
        @property
        def link_table(self) -> RepeatedCompositeFieldContainer[Otlp.Link]: ...
        @property
        def string_table(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
        @property
        def attribute_table(self) -> RepeatedCompositeFieldContainer[Otlp.KeyValueAndUnit]: ...
        @property
        def stack_table(self) -> RepeatedCompositeFieldContainer[Otlp.Stack]: ...
        def __init__(
            self,
            *,
            mapping_table: collections.abc.Iterable[Otlp.Mapping] | None = ...,
            location_table: collections.abc.Iterable[Otlp.Location] | None = ...,
            function_table: collections.abc.Iterable[Otlp.Function] | None = ...,
            link_table: collections.abc.Iterable[Otlp.Link] | None = ...,
            string_table: collections.abc.Iterable[builtins.str] | None = ...,
            attribute_table: collections.abc.Iterable[Otlp.KeyValueAndUnit] | None = ...,
            stack_table: collections.abc.Iterable[Otlp.Stack] | None = ...,
        ) -> None: ...
    class ResourceProfiles(Message):
        @property
        def resource(self) -> Otlp.Resource: ...
        @property
        def scope_profiles(self) -> RepeatedCompositeFieldContainer[Otlp.ScopeProfiles]: ...
        def __init__(
            self,
            *,
            resource: Otlp.Resource | collections.abc.Mapping[str, typing.Any] | None = ...,
            scope_profiles: collections.abc.Iterable[Otlp.ScopeProfiles] | None = ...,
        ) -> None: ...
    class Resource(Message):
        @property
        def attributes(self) -> RepeatedCompositeFieldContainer[Otlp.KeyValue]: ...
        def __init__(
            self,
            *,
            attributes: collections.abc.Iterable[Otlp.KeyValue] | None = ...,
        ) -> None: ...
    class ScopeProfiles(Message):
        @property
        def scope(self) -> Otlp.InstrumentationScope: ...
        @property
        def profiles(self) -> RepeatedCompositeFieldContainer[Otlp.Profile]: ...
        def __init__(
            self,
            *,
            scope: Otlp.InstrumentationScope | collections.abc.Mapping[str, typing.Any] | None = ...,
            profiles: collections.abc.Iterable[Otlp.Profile] | None = ...,
        ) -> None: ...
    class InstrumentationScope(Message):
        name: builtins.str
        version: builtins.str
        def __init__(
            self,
            *,
            name: builtins.str | None = ...,
            version: builtins.str | None = ...,
        ) -> None: ...
    class Profile(Message):
        @property
        def sample_type(self) -> Otlp.ValueType: ...
        @property
        def samples(self) -> RepeatedCompositeFieldContainer[Otlp.Sample]: ...
        time_unix_nano: builtins.int
        duration_nano: builtins.int
        def __init__(
            self,
            *,
            sample_type: Otlp.ValueType | collections.abc.Mapping[str, typing.Any] | None = ...,
            samples: collections.abc.Iterable[Otlp.Sample] | None = ...,
            time_unix_nano: builtins.int | None = ...,
            duration_nano: builtins.int | None = ...,
        ) -> None: ...
    class ValueType(Message):
        type_strindex: builtins.int
        unit_strindex: builtins.int
        def __init__(
            self,
            *,
            type_strindex: builtins.int | None = ...,
            unit_strindex: builtins.int | None = ...,
        ) -> None: ...
    class Sample(Message):
        stack_index: builtins.int
        @property
        def attribute_indices(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
        @property
        def values(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
        def __init__(
            self,
            *,
            stack_index: builtins.int | None = ...,
            attribute_indices: collections.abc.Iterable[builtins.int] | None = ...,
            values: collections.abc.Iterable[builtins.int] | None = ...,
        ) -> None: ...
    class Stack(Message):
        @property
        def location_indices(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
        def __init__(
            self,
            *,
            location_indices: collections.abc.Iterable[builtins.int] | None = ...,
        ) -> None: ...
    class Location(Message):
        @property
        def lines(self) -> RepeatedCompositeFieldContainer[Otlp.Line]: ...
        def __init__(
            self,
            *,
            lines: collections.abc.Iterable[Otlp.Line] | None = ...,
        ) -> None: ...
    class Line(Message):
        function_index: builtins.int
        line: builtins.int
        def __init__(
            self,
            *,
            function_index: builtins.int | None = ...,
            line: builtins.int | None = ...,
        ) -> None: ...
    class Function(Message):
        name_strindex: builtins.int
        filename_strindex: builtins.int
        def __init__(
            self,
            *,
            name_strindex: builtins.int | None = ...,
            filename_strindex: builtins.int | None = ...,
        ) -> None: ...
    class Mapping(Message):
        def __init__(
            self,
        ) -> None: ...
    class Link(Message):
        def __init__(
            self,
        ) -> None: ...
    class KeyValueAndUnit(Message):
        key_strindex: builtins.int
        @property
        def value(self) -> Otlp.AnyValue: ...
        def __init__(
            self,
            *,
            key_strindex: builtins.int | None = ...,
            value: Otlp.AnyValue | collections.abc.Mapping[str, typing.Any] | None = ...,
        ) -> None: ...
    class KeyValue(Message):
        key: builtins.str
        @property
        def value(self) -> Otlp.AnyValue: ...
        def __init__(
            self,
            *,
            key: builtins.str | None = ...,
            value: Otlp.AnyValue | collections.abc.Mapping[str, typing.Any] | None = ...,
        ) -> None: ...
    class AnyValue(Message):
        string_value: builtins.str
        int_value: builtins.int
        def __init__(
            self,
            *,
            string_value: builtins.str | None = ...,
            int_value: builtins.int | None = ...,
        ) -> None: ...
    def __init__(
        self,
    ) -> None: ...

class ProfileNodeOwn(Message):
    @property
    def input_ports(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    further_runs: builtins.int
    def __init__(
        self,
        *,
        input_ports: collections.abc.Iterable[builtins.int] | None = ...,
        further_runs: builtins.int | None = ...,
    ) -> None: ...

class ProfileProtoOwn(Message):
    @property
    def step_details(self) -> RepeatedCompositeFieldContainer[StepDetailColumns]: ...
    @property
    def detail_strings(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    def __init__(
        self,
        *,
        step_details: collections.abc.Iterable[StepDetailColumns] | None = ...,
        detail_strings: collections.abc.Iterable[builtins.str] | None = ...,
    ) -> None: ...

class StepDetailColumns(Message):
    step: builtins.int
    @property
    def executions(self) -> IntColumns: ...
    @property
    def allocations(self) -> IntColumns: ...
    @property
    def allocator_levels(self) -> IntColumns: ...
    def __init__(
        self,
        *,
        step: builtins.int | None = ...,
        executions: IntColumns | collections.abc.Mapping[str, typing.Any] | None = ...,
        allocations: IntColumns | collections.abc.Mapping[str, typing.Any] | None = ...,
        allocator_levels: IntColumns | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class IntColumns(Message):
    @property
    def columns(self) -> RepeatedCompositeFieldContainer[IntColumn]: ...
    def __init__(
        self,
        *,
        columns: collections.abc.Iterable[IntColumn] | None = ...,
    ) -> None: ...

class IntColumn(Message):
    @property
    def values(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        values: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class Profile(Message):
    @property
    def sample_type(self) -> RepeatedCompositeFieldContainer[ValueType]: ...
    @property
    def sample(self) -> RepeatedCompositeFieldContainer[Sample]: ...
    @property
    def mapping(self) -> RepeatedCompositeFieldContainer[Mapping]: ...
    @property
    def location(self) -> RepeatedCompositeFieldContainer[Location]: ...
    @property
    def function(self) -> RepeatedCompositeFieldContainer[Function]: ...
    @property
    def string_table(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    drop_frames: builtins.int
    keep_frames: builtins.int
    time_nanos: builtins.int
    duration_nanos: builtins.int
    @property
    def period_type(self) -> ValueType: ...
    period: builtins.int
    @property
    def comment(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    default_sample_type: builtins.int
    def __init__(
        self,
        *,
        sample_type: collections.abc.Iterable[ValueType] | None = ...,
        sample: collections.abc.Iterable[Sample] | None = ...,
        mapping: collections.abc.Iterable[Mapping] | None = ...,
        location: collections.abc.Iterable[Location] | None = ...,
        function: collections.abc.Iterable[Function] | None = ...,
        string_table: collections.abc.Iterable[builtins.str] | None = ...,
        drop_frames: builtins.int | None = ...,
        keep_frames: builtins.int | None = ...,
        time_nanos: builtins.int | None = ...,
        duration_nanos: builtins.int | None = ...,
        period_type: ValueType | collections.abc.Mapping[str, typing.Any] | None = ...,
        period: builtins.int | None = ...,
        comment: collections.abc.Iterable[builtins.int] | None = ...,
        default_sample_type: builtins.int | None = ...,
    ) -> None: ...

class ValueType(Message):
    type: builtins.int
    unit: builtins.int
    def __init__(
        self,
        *,
        type: builtins.int | None = ...,
        unit: builtins.int | None = ...,
    ) -> None: ...

class Sample(Message):
    @property
    def location_id(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def value(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def label(self) -> RepeatedCompositeFieldContainer[Label]: ...
    def __init__(
        self,
        *,
        location_id: collections.abc.Iterable[builtins.int] | None = ...,
        value: collections.abc.Iterable[builtins.int] | None = ...,
        label: collections.abc.Iterable[Label] | None = ...,
    ) -> None: ...

class Label(Message):
    key: builtins.int
    str: builtins.int
    num: builtins.int
    def __init__(
        self,
        *,
        key: builtins.int | None = ...,
        str: builtins.int | None = ...,
        num: builtins.int | None = ...,
    ) -> None: ...

class Mapping(Message):
    id: builtins.int
    memory_start: builtins.int
    memory_limit: builtins.int
    file_offset: builtins.int
    filename: builtins.int
    build_id: builtins.int
    has_functions: builtins.bool
    has_filenames: builtins.bool
    has_line_numbers: builtins.bool
    has_inline_frames: builtins.bool
    def __init__(
        self,
        *,
        id: builtins.int | None = ...,
        memory_start: builtins.int | None = ...,
        memory_limit: builtins.int | None = ...,
        file_offset: builtins.int | None = ...,
        filename: builtins.int | None = ...,
        build_id: builtins.int | None = ...,
        has_functions: builtins.bool | None = ...,
        has_filenames: builtins.bool | None = ...,
        has_line_numbers: builtins.bool | None = ...,
        has_inline_frames: builtins.bool | None = ...,
    ) -> None: ...

class Location(Message):
    id: builtins.int
    mapping_id: builtins.int
    address: builtins.int
    @property
    def line(self) -> RepeatedCompositeFieldContainer[Line]: ...
    def __init__(
        self,
        *,
        id: builtins.int | None = ...,
        mapping_id: builtins.int | None = ...,
        address: builtins.int | None = ...,
        line: collections.abc.Iterable[Line] | None = ...,
    ) -> None: ...

class Line(Message):
    function_id: builtins.int
    line: builtins.int
    def __init__(
        self,
        *,
        function_id: builtins.int | None = ...,
        line: builtins.int | None = ...,
    ) -> None: ...

class Function(Message):
    id: builtins.int
    name: builtins.int
    system_name: builtins.int
    filename: builtins.int
    start_line: builtins.int
    def __init__(
        self,
        *,
        id: builtins.int | None = ...,
        name: builtins.int | None = ...,
        system_name: builtins.int | None = ...,
        filename: builtins.int | None = ...,
        start_line: builtins.int | None = ...,
    ) -> None: ...

class RunMetadata(Message):
    class FunctionGraphs(Message):
        @property
        def partition_graphs(self) -> RepeatedCompositeFieldContainer[GraphDef]: ...
        @property
        def pre_optimization_graph(self) -> GraphDef: ...
        @property
        def post_optimization_graph(self) -> GraphDef: ...
        def __init__(
            self,
            *,
            partition_graphs: collections.abc.Iterable[GraphDef] | None = ...,
            pre_optimization_graph: GraphDef | collections.abc.Mapping[str, typing.Any] | None = ...,
            post_optimization_graph: GraphDef | collections.abc.Mapping[str, typing.Any] | None = ...,
        ) -> None: ...
    @property
    def step_stats(self) -> StepStats: ...
    @property
    def partition_graphs(self) -> RepeatedCompositeFieldContainer[GraphDef]: ...
    @property
    def function_graphs(self) -> RepeatedCompositeFieldContainer[RunMetadata.FunctionGraphs]: ...
    @property
    def session_metadata(self) -> SessionMetadata: ...
    def __init__(
        self,
        *,
        step_stats: StepStats | collections.abc.Mapping[str, typing.Any] | None = ...,
        partition_graphs: collections.abc.Iterable[GraphDef] | None = ...,
        function_graphs: collections.abc.Iterable[RunMetadata.FunctionGraphs] | None = ...,
        session_metadata: SessionMetadata | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class SessionMetadata(Message):
    name: builtins.str
    version: builtins.int
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        version: builtins.int | None = ...,
    ) -> None: ...

class StepStats(Message):
    @property
    def dev_stats(self) -> RepeatedCompositeFieldContainer[DeviceStepStats]: ...
    def __init__(
        self,
        *,
        dev_stats: collections.abc.Iterable[DeviceStepStats] | None = ...,
    ) -> None: ...

class DeviceStepStats(Message):
    device: builtins.str
    @property
    def node_stats(self) -> RepeatedCompositeFieldContainer[NodeExecStats]: ...
    @property
    def thread_names(self) -> ScalarMap[builtins.int, builtins.str]: ...
    def __init__(
        self,
        *,
        device: builtins.str | None = ...,
        node_stats: collections.abc.Iterable[NodeExecStats] | None = ...,
        thread_names: collections.abc.Mapping[builtins.int, builtins.str] | None = ...,
    ) -> None: ...

class NodeExecStats(Message):
    node_name: builtins.str
    all_start_micros: builtins.int
    op_start_rel_micros: builtins.int
    op_end_rel_micros: builtins.int
    all_end_rel_micros: builtins.int
    @property
    def memory(self) -> RepeatedCompositeFieldContainer[AllocatorMemoryUsed]: ...
    @property
    def output(self) -> RepeatedCompositeFieldContainer[NodeOutput]: ...
    timeline_label: builtins.str
    scheduled_micros: builtins.int
    thread_id: builtins.int
    @property
    def referenced_tensor(self) -> RepeatedCompositeFieldContainer[AllocationDescription]: ...
    @property
    def memory_stats(self) -> MemoryStats: ...
    all_start_nanos: builtins.int
    op_start_rel_nanos: builtins.int
    op_end_rel_nanos: builtins.int
    all_end_rel_nanos: builtins.int
    scheduled_nanos: builtins.int
    def __init__(
        self,
        *,
        node_name: builtins.str | None = ...,
        all_start_micros: builtins.int | None = ...,
        op_start_rel_micros: builtins.int | None = ...,
        op_end_rel_micros: builtins.int | None = ...,
        all_end_rel_micros: builtins.int | None = ...,
        memory: collections.abc.Iterable[AllocatorMemoryUsed] | None = ...,
        output: collections.abc.Iterable[NodeOutput] | None = ...,
        timeline_label: builtins.str | None = ...,
        scheduled_micros: builtins.int | None = ...,
        thread_id: builtins.int | None = ...,
        referenced_tensor: collections.abc.Iterable[AllocationDescription] | None = ...,
        memory_stats: MemoryStats | collections.abc.Mapping[str, typing.Any] | None = ...,
        all_start_nanos: builtins.int | None = ...,
        op_start_rel_nanos: builtins.int | None = ...,
        op_end_rel_nanos: builtins.int | None = ...,
        all_end_rel_nanos: builtins.int | None = ...,
        scheduled_nanos: builtins.int | None = ...,
    ) -> None: ...

class AllocatorMemoryUsed(Message):
    allocator_name: builtins.str
    total_bytes: builtins.int
    peak_bytes: builtins.int
    live_bytes: builtins.int
    allocator_bytes_in_use: builtins.int
    @property
    def allocation_records(self) -> RepeatedCompositeFieldContainer[AllocationRecord]: ...
    def __init__(
        self,
        *,
        allocator_name: builtins.str | None = ...,
        total_bytes: builtins.int | None = ...,
        peak_bytes: builtins.int | None = ...,
        live_bytes: builtins.int | None = ...,
        allocator_bytes_in_use: builtins.int | None = ...,
        allocation_records: collections.abc.Iterable[AllocationRecord] | None = ...,
    ) -> None: ...

class AllocationRecord(Message):
    alloc_micros: builtins.int
    alloc_bytes: builtins.int
    def __init__(
        self,
        *,
        alloc_micros: builtins.int | None = ...,
        alloc_bytes: builtins.int | None = ...,
    ) -> None: ...

class NodeOutput(Message):
    slot: builtins.int
    @property
    def tensor_description(self) -> TensorDescription: ...
    def __init__(
        self,
        *,
        slot: builtins.int | None = ...,
        tensor_description: TensorDescription | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class TensorDescription(Message):
    dtype: builtins.int
    @property
    def shape(self) -> TensorShapeProto: ...
    @property
    def allocation_description(self) -> AllocationDescription: ...
    def __init__(
        self,
        *,
        dtype: builtins.int | None = ...,
        shape: TensorShapeProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        allocation_description: AllocationDescription | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class AllocationDescription(Message):
    requested_bytes: builtins.int
    allocated_bytes: builtins.int
    allocator_name: builtins.str
    allocation_id: builtins.int
    has_single_reference: builtins.bool
    ptr: builtins.int
    def __init__(
        self,
        *,
        requested_bytes: builtins.int | None = ...,
        allocated_bytes: builtins.int | None = ...,
        allocator_name: builtins.str | None = ...,
        allocation_id: builtins.int | None = ...,
        has_single_reference: builtins.bool | None = ...,
        ptr: builtins.int | None = ...,
    ) -> None: ...

class MemoryStats(Message):
    temp_memory_size: builtins.int
    device_temp_memory_size: builtins.int
    persistent_memory_size: builtins.int
    device_persistent_memory_size: builtins.int
    @property
    def persistent_tensor_alloc_ids(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def device_persistent_tensor_alloc_ids(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        temp_memory_size: builtins.int | None = ...,
        device_temp_memory_size: builtins.int | None = ...,
        persistent_memory_size: builtins.int | None = ...,
        device_persistent_memory_size: builtins.int | None = ...,
        persistent_tensor_alloc_ids: collections.abc.Iterable[builtins.int] | None = ...,
        device_persistent_tensor_alloc_ids: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class OpLogProto(Message):
    @property
    def log_entries(self) -> RepeatedCompositeFieldContainer[OpLogEntry]: ...
    @property
    def id_to_string(self) -> ScalarMap[builtins.int, builtins.str]: ...
    def __init__(
        self,
        *,
        log_entries: collections.abc.Iterable[OpLogEntry] | None = ...,
        id_to_string: collections.abc.Mapping[builtins.int, builtins.str] | None = ...,
    ) -> None: ...

class OpLogEntry(Message):
    name: builtins.str
    float_ops: builtins.int
    @property
    def types(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def code_def(self) -> CodeDef: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        float_ops: builtins.int | None = ...,
        types: collections.abc.Iterable[builtins.str] | None = ...,
        code_def: CodeDef | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class CodeDef(Message):
    class Trace(Message):
        lineno: builtins.int
        func_start_line: builtins.int
        file_id: builtins.int
        function_id: builtins.int
        line_id: builtins.int
        def __init__(
            self,
            *,
            lineno: builtins.int | None = ...,
            func_start_line: builtins.int | None = ...,
            file_id: builtins.int | None = ...,
            function_id: builtins.int | None = ...,
            line_id: builtins.int | None = ...,
        ) -> None: ...
    @property
    def traces(self) -> RepeatedCompositeFieldContainer[CodeDef.Trace]: ...
    def __init__(
        self,
        *,
        traces: collections.abc.Iterable[CodeDef.Trace] | None = ...,
    ) -> None: ...

class ProfileProto(Message):
    @property
    def nodes(self) -> MessageMap[builtins.int, ProfileNode]: ...
    has_trace: builtins.bool
    @property
    def steps(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def id_to_string(self) -> ScalarMap[builtins.int, builtins.str]: ...
    miss_accelerator_stream: builtins.bool
    def __init__(
        self,
        *,
        nodes: collections.abc.Mapping[builtins.int, ProfileNode] | None = ...,
        has_trace: builtins.bool | None = ...,
        steps: collections.abc.Iterable[builtins.int] | None = ...,
        id_to_string: collections.abc.Mapping[builtins.int, builtins.str] | None = ...,
        miss_accelerator_stream: builtins.bool | None = ...,
    ) -> None: ...

class ProfileNode(Message):
    name: builtins.str
    @property
    def inputs(self) -> ScalarMap[builtins.int, builtins.int]: ...
    @property
    def outputs(self) -> ScalarMap[builtins.int, builtins.int]: ...
    @property
    def shape(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def op_types(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    canonical_device: builtins.str
    host_device: builtins.str
    float_ops: builtins.int
    op: builtins.str
    @property
    def trace(self) -> CodeDef: ...
    @property
    def attrs(self) -> MessageMap[builtins.str, AttrValue]: ...
    @property
    def execs(self) -> MessageMap[builtins.int, ExecProfile]: ...
    id: builtins.int
    @property
    def src_output_index(self) -> ScalarMap[builtins.int, builtins.int]: ...
    @property
    def output_shapes(self) -> MessageMap[builtins.int, Tuple]: ...
    @property
    def input_shapes(self) -> MessageMap[builtins.int, Tuple]: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        inputs: collections.abc.Mapping[builtins.int, builtins.int] | None = ...,
        outputs: collections.abc.Mapping[builtins.int, builtins.int] | None = ...,
        shape: collections.abc.Iterable[builtins.int] | None = ...,
        op_types: collections.abc.Iterable[builtins.str] | None = ...,
        canonical_device: builtins.str | None = ...,
        host_device: builtins.str | None = ...,
        float_ops: builtins.int | None = ...,
        op: builtins.str | None = ...,
        trace: CodeDef | collections.abc.Mapping[str, typing.Any] | None = ...,
        attrs: collections.abc.Mapping[builtins.str, AttrValue] | None = ...,
        execs: collections.abc.Mapping[builtins.int, ExecProfile] | None = ...,
        id: builtins.int | None = ...,
        src_output_index: collections.abc.Mapping[builtins.int, builtins.int] | None = ...,
        output_shapes: collections.abc.Mapping[builtins.int, Tuple] | None = ...,
        input_shapes: collections.abc.Mapping[builtins.int, Tuple] | None = ...,
    ) -> None: ...

class ExecProfile(Message):
    run_count: builtins.int
    all_start_micros: builtins.int
    latest_end_micros: builtins.int
    @property
    def accelerator_execs(self) -> MessageMap[builtins.str, ExecTime]: ...
    @property
    def cpu_execs(self) -> MessageMap[builtins.str, ExecTime]: ...
    @property
    def devices(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def memory_execs(self) -> RepeatedCompositeFieldContainer[ExecMemory]: ...
    @property
    def allocations(self) -> RepeatedCompositeFieldContainer[AllocationRecord]: ...
    def __init__(
        self,
        *,
        run_count: builtins.int | None = ...,
        all_start_micros: builtins.int | None = ...,
        latest_end_micros: builtins.int | None = ...,
        accelerator_execs: collections.abc.Mapping[builtins.str, ExecTime] | None = ...,
        cpu_execs: collections.abc.Mapping[builtins.str, ExecTime] | None = ...,
        devices: collections.abc.Iterable[builtins.str] | None = ...,
        memory_execs: collections.abc.Iterable[ExecMemory] | None = ...,
        allocations: collections.abc.Iterable[AllocationRecord] | None = ...,
    ) -> None: ...

class ExecTime(Message):
    @property
    def times(self) -> RepeatedCompositeFieldContainer[Tuple]: ...
    def __init__(
        self,
        *,
        times: collections.abc.Iterable[Tuple] | None = ...,
    ) -> None: ...

class ExecMemory(Message):
    memory_micros: builtins.int
    host_temp_bytes: builtins.int
    host_persistent_bytes: builtins.int
    accelerator_temp_bytes: builtins.int
    accelerator_persistent_bytes: builtins.int
    requested_bytes: builtins.int
    peak_bytes: builtins.int
    residual_bytes: builtins.int
    output_bytes: builtins.int
    allocator_bytes_in_use: builtins.int
    @property
    def output_memory(self) -> MessageMap[builtins.int, Memory]: ...
    def __init__(
        self,
        *,
        memory_micros: builtins.int | None = ...,
        host_temp_bytes: builtins.int | None = ...,
        host_persistent_bytes: builtins.int | None = ...,
        accelerator_temp_bytes: builtins.int | None = ...,
        accelerator_persistent_bytes: builtins.int | None = ...,
        requested_bytes: builtins.int | None = ...,
        peak_bytes: builtins.int | None = ...,
        residual_bytes: builtins.int | None = ...,
        output_bytes: builtins.int | None = ...,
        allocator_bytes_in_use: builtins.int | None = ...,
        output_memory: collections.abc.Mapping[builtins.int, Memory] | None = ...,
    ) -> None: ...

class Tuple(Message):
    @property
    def int64_values(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        int64_values: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class Memory(Message):
    bytes: builtins.int
    ptr: builtins.int
    def __init__(
        self,
        *,
        bytes: builtins.int | None = ...,
        ptr: builtins.int | None = ...,
    ) -> None: ...

class XSpace(Message):
    @property
    def planes(self) -> RepeatedCompositeFieldContainer[XPlane]: ...
    @property
    def errors(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def warnings(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def hostnames(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    def __init__(
        self,
        *,
        planes: collections.abc.Iterable[XPlane] | None = ...,
        errors: collections.abc.Iterable[builtins.str] | None = ...,
        warnings: collections.abc.Iterable[builtins.str] | None = ...,
        hostnames: collections.abc.Iterable[builtins.str] | None = ...,
    ) -> None: ...

class XPlane(Message):
    id: builtins.int
    name: builtins.str
    @property
    def lines(self) -> RepeatedCompositeFieldContainer[XLine]: ...
    @property
    def event_metadata(self) -> MessageMap[builtins.int, XEventMetadata]: ...
    @property
    def stat_metadata(self) -> MessageMap[builtins.int, XStatMetadata]: ...
    @property
    def stats(self) -> RepeatedCompositeFieldContainer[XStat]: ...
    def __init__(
        self,
        *,
        id: builtins.int | None = ...,
        name: builtins.str | None = ...,
        lines: collections.abc.Iterable[XLine] | None = ...,
        event_metadata: collections.abc.Mapping[builtins.int, XEventMetadata] | None = ...,
        stat_metadata: collections.abc.Mapping[builtins.int, XStatMetadata] | None = ...,
        stats: collections.abc.Iterable[XStat] | None = ...,
    ) -> None: ...

class XLine(Message):
    id: builtins.int
    name: builtins.str
    timestamp_ns: builtins.int
    @property
    def events(self) -> RepeatedCompositeFieldContainer[XEvent]: ...
    duration_ps: builtins.int
    display_id: builtins.int
    display_name: builtins.str
    def __init__(
        self,
        *,
        id: builtins.int | None = ...,
        name: builtins.str | None = ...,
        timestamp_ns: builtins.int | None = ...,
        events: collections.abc.Iterable[XEvent] | None = ...,
        duration_ps: builtins.int | None = ...,
        display_id: builtins.int | None = ...,
        display_name: builtins.str | None = ...,
    ) -> None: ...

class XEvent(Message):
    metadata_id: builtins.int
    offset_ps: builtins.int
    num_occurrences: builtins.int
    duration_ps: builtins.int
    @property
    def stats(self) -> RepeatedCompositeFieldContainer[XStat]: ...
    def __init__(
        self,
        *,
        metadata_id: builtins.int | None = ...,
        offset_ps: builtins.int | None = ...,
        num_occurrences: builtins.int | None = ...,
        duration_ps: builtins.int | None = ...,
        stats: collections.abc.Iterable[XStat] | None = ...,
    ) -> None: ...

class XStat(Message):
    metadata_id: builtins.int
    double_value: builtins.float
    uint64_value: builtins.int
    int64_value: builtins.int
    str_value: builtins.str
    bytes_value: builtins.bytes
    ref_value: builtins.int
    def __init__(
        self,
        *,
        metadata_id: builtins.int | None = ...,
        double_value: builtins.float | None = ...,
        uint64_value: builtins.int | None = ...,
        int64_value: builtins.int | None = ...,
        str_value: builtins.str | None = ...,
        bytes_value: builtins.bytes | None = ...,
        ref_value: builtins.int | None = ...,
    ) -> None: ...

class XEventMetadata(Message):
    id: builtins.int
    name: builtins.str
    metadata: builtins.bytes
    display_name: builtins.str
    @property
    def stats(self) -> RepeatedCompositeFieldContainer[XStat]: ...
    @property
    def child_id(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        id: builtins.int | None = ...,
        name: builtins.str | None = ...,
        metadata: builtins.bytes | None = ...,
        display_name: builtins.str | None = ...,
        stats: collections.abc.Iterable[XStat] | None = ...,
        child_id: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class XStatMetadata(Message):
    id: builtins.int
    name: builtins.str
    description: builtins.str
    def __init__(
        self,
        *,
        id: builtins.int | None = ...,
        name: builtins.str | None = ...,
        description: builtins.str | None = ...,
    ) -> None: ...

class ProfileOptions(Message):
    UNSPECIFIED: typing.Final = 0
    CPU: typing.Final = 1
    GPU: typing.Final = 2
    TPU: typing.Final = 3
    PLUGGABLE_DEVICE: typing.Final = 4
    class TraceOptions(Message):
        host_traceme_filter_mask: builtins.int
        def __init__(
            self,
            *,
            host_traceme_filter_mask: builtins.int | None = ...,
        ) -> None: ...
    class AdvancedConfigValue(Message):
        string_value: builtins.str
        bool_value: builtins.bool
        int64_value: builtins.int
        def __init__(
            self,
            *,
            string_value: builtins.str | None = ...,
            bool_value: builtins.bool | None = ...,
            int64_value: builtins.int | None = ...,
        ) -> None: ...
    version: builtins.int
    device_type: builtins.int
    include_dataset_ops: builtins.bool
    host_tracer_level: builtins.int
    device_tracer_level: builtins.int
    python_tracer_level: builtins.int
    enable_hlo_proto: builtins.bool
    start_timestamp_ns: builtins.int
    duration_ms: builtins.int
    repository_path: builtins.str
    @property
    def trace_options(self) -> ProfileOptions.TraceOptions: ...
    @property
    def advanced_configuration(self) -> MessageMap[builtins.str, ProfileOptions.AdvancedConfigValue]: ...
    raise_error_on_start_failure: builtins.bool
    session_id: builtins.str
    override_hostname: builtins.str
    def __init__(
        self,
        *,
        version: builtins.int | None = ...,
        device_type: builtins.int | None = ...,
        include_dataset_ops: builtins.bool | None = ...,
        host_tracer_level: builtins.int | None = ...,
        device_tracer_level: builtins.int | None = ...,
        python_tracer_level: builtins.int | None = ...,
        enable_hlo_proto: builtins.bool | None = ...,
        start_timestamp_ns: builtins.int | None = ...,
        duration_ms: builtins.int | None = ...,
        repository_path: builtins.str | None = ...,
        trace_options: ProfileOptions.TraceOptions | collections.abc.Mapping[str, typing.Any] | None = ...,
        advanced_configuration: collections.abc.Mapping[builtins.str, ProfileOptions.AdvancedConfigValue] | None = ...,
        raise_error_on_start_failure: builtins.bool | None = ...,
        session_id: builtins.str | None = ...,
        override_hostname: builtins.str | None = ...,
    ) -> None: ...

class ToolRequestOptions(Message):
    output_formats: builtins.str
    save_to_repo: builtins.bool
    def __init__(
        self,
        *,
        output_formats: builtins.str | None = ...,
        save_to_repo: builtins.bool | None = ...,
    ) -> None: ...

class ProfileRequest(Message):
    duration_ms: builtins.int
    max_events: builtins.int
    @property
    def tools(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def tool_options(self) -> MessageMap[builtins.str, ToolRequestOptions]: ...
    @property
    def opts(self) -> ProfileOptions: ...
    repository_root: builtins.str
    session_id: builtins.str
    host_name: builtins.str
    emit_xspace: builtins.bool
    def __init__(
        self,
        *,
        duration_ms: builtins.int | None = ...,
        max_events: builtins.int | None = ...,
        tools: collections.abc.Iterable[builtins.str] | None = ...,
        tool_options: collections.abc.Mapping[builtins.str, ToolRequestOptions] | None = ...,
        opts: ProfileOptions | collections.abc.Mapping[str, typing.Any] | None = ...,
        repository_root: builtins.str | None = ...,
        session_id: builtins.str | None = ...,
        host_name: builtins.str | None = ...,
        emit_xspace: builtins.bool | None = ...,
    ) -> None: ...

class ProfileToolData(Message):
    name: builtins.str
    data: builtins.bytes
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        data: builtins.bytes | None = ...,
    ) -> None: ...

class ProfileResponse(Message):
    @property
    def tool_data(self) -> RepeatedCompositeFieldContainer[ProfileToolData]: ...
    empty_trace: builtins.bool
    @property
    def xspace(self) -> XSpace: ...
    def __init__(
        self,
        *,
        tool_data: collections.abc.Iterable[ProfileToolData] | None = ...,
        empty_trace: builtins.bool | None = ...,
        xspace: XSpace | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class TerminateRequest(Message):
    session_id: builtins.str
    def __init__(
        self,
        *,
        session_id: builtins.str | None = ...,
    ) -> None: ...

class TerminateResponse(Message):
    def __init__(
        self,
    ) -> None: ...

class MonitorRequest(Message):
    duration_ms: builtins.int
    monitoring_level: builtins.int
    timestamp: builtins.bool
    def __init__(
        self,
        *,
        duration_ms: builtins.int | None = ...,
        monitoring_level: builtins.int | None = ...,
        timestamp: builtins.bool | None = ...,
    ) -> None: ...

class ProfilerServiceMonitorResult(Message):
    EMPTY_RESULT: typing.Final = 0
    UTIL_ONLY: typing.Final = 1
    UTIL_IDLE: typing.Final = 2
    UTIL_IDLE_STEP: typing.Final = 3
    response_type: builtins.int
    device_idle_time_percent: builtins.float
    matrix_unit_utilization_percent: builtins.float
    step_time_ms_avg: builtins.float
    step_time_ms_min: builtins.float
    step_time_ms_max: builtins.float
    infeed_percent_avg: builtins.float
    infeed_percent_min: builtins.float
    infeed_percent_max: builtins.float
    def __init__(
        self,
        *,
        response_type: builtins.int | None = ...,
        device_idle_time_percent: builtins.float | None = ...,
        matrix_unit_utilization_percent: builtins.float | None = ...,
        step_time_ms_avg: builtins.float | None = ...,
        step_time_ms_min: builtins.float | None = ...,
        step_time_ms_max: builtins.float | None = ...,
        infeed_percent_avg: builtins.float | None = ...,
        infeed_percent_min: builtins.float | None = ...,
        infeed_percent_max: builtins.float | None = ...,
    ) -> None: ...

class MonitorResponse(Message):
    data: builtins.str
    @property
    def monitor_result(self) -> ProfilerServiceMonitorResult: ...
    def __init__(
        self,
        *,
        data: builtins.str | None = ...,
        monitor_result: ProfilerServiceMonitorResult | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class _VariableSynchronization(EnumTypeWrapper):
    VARIABLE_SYNCHRONIZATION_AUTO: builtins.int
    VARIABLE_SYNCHRONIZATION_NONE: builtins.int
    VARIABLE_SYNCHRONIZATION_ON_WRITE: builtins.int
    VARIABLE_SYNCHRONIZATION_ON_READ: builtins.int

VariableSynchronization: _VariableSynchronization

class _VariableAggregation(EnumTypeWrapper):
    VARIABLE_AGGREGATION_NONE: builtins.int
    VARIABLE_AGGREGATION_SUM: builtins.int
    VARIABLE_AGGREGATION_MEAN: builtins.int
    VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA: builtins.int

VariableAggregation: _VariableAggregation

class SavedModel(Message):
    saved_model_schema_version: builtins.int
    @property
    def meta_graphs(self) -> RepeatedCompositeFieldContainer[MetaGraphDef]: ...
    def __init__(
        self,
        *,
        saved_model_schema_version: builtins.int | None = ...,
        meta_graphs: collections.abc.Iterable[MetaGraphDef] | None = ...,
    ) -> None: ...

class MetaGraphDef(Message):
    class MetaInfoDef(Message):
        meta_graph_version: builtins.str
        @property
        def stripped_op_list(self) -> OpList: ...
        @property
        def tags(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
        tensorflow_version: builtins.str
        tensorflow_git_version: builtins.str
        stripped_default_attrs: builtins.bool
        @property
        def function_aliases(self) -> ScalarMap[builtins.str, builtins.str]: ...
        def __init__(
            self,
            *,
            meta_graph_version: builtins.str | None = ...,
            stripped_op_list: OpList | collections.abc.Mapping[str, typing.Any] | None = ...,
            tags: collections.abc.Iterable[builtins.str] | None = ...,
            tensorflow_version: builtins.str | None = ...,
            tensorflow_git_version: builtins.str | None = ...,
            stripped_default_attrs: builtins.bool | None = ...,
            function_aliases: collections.abc.Mapping[builtins.str, builtins.str] | None = ...,
        ) -> None: ...
    @property
    def meta_info_def(self) -> MetaGraphDef.MetaInfoDef: ...
    @property
    def graph_def(self) -> GraphDef: ...
    @property
    def saver_def(self) -> SaverDef: ...
    @property
    def collection_def(self) -> MessageMap[builtins.str, CollectionDef]: ...
    @property
    def signature_def(self) -> MessageMap[builtins.str, SignatureDef]: ...
    @property
    def asset_file_def(self) -> RepeatedCompositeFieldContainer[AssetFileDef]: ...
    @property
    def object_graph_def(self) -> SavedObjectGraph: ...
    def __init__(
        self,
        *,
        meta_info_def: MetaGraphDef.MetaInfoDef | collections.abc.Mapping[str, typing.Any] | None = ...,
        graph_def: GraphDef | collections.abc.Mapping[str, typing.Any] | None = ...,
        saver_def: SaverDef | collections.abc.Mapping[str, typing.Any] | None = ...,
        collection_def: collections.abc.Mapping[builtins.str, CollectionDef] | None = ...,
        signature_def: collections.abc.Mapping[builtins.str, SignatureDef] | None = ...,
        asset_file_def: collections.abc.Iterable[AssetFileDef] | None = ...,
        object_graph_def: SavedObjectGraph | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class CollectionDef(Message):
    class NodeList(Message):
        @property
        def value(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
        def __init__(
            self,
            *,
            value: collections.abc.Iterable[builtins.str] | None = ...,
        ) -> None: ...
    class BytesList(Message):
        @property
        def value(self) -> RepeatedScalarFieldContainer[builtins.bytes]: ...
        def __init__(
            self,
            *,
            value: collections.abc.Iterable[builtins.bytes] | None = ...,
        ) -> None: ...
    class Int64List(Message):
        @property
        def value(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
        def __init__(
            self,
            *,
            value: collections.abc.Iterable[builtins.int] | None = ...,
        ) -> None: ...
    class FloatList(Message):
        @property
        def value(self) -> RepeatedScalarFieldContainer[builtins.float]: ...
        def __init__(
            self,
            *,
            value: collections.abc.Iterable[builtins.float] | None = ...,
        ) -> None: ...
    @property
    def node_list(self) -> CollectionDef.NodeList: ...
    @property
    def bytes_list(self) -> CollectionDef.BytesList: ...
    @property
    def int64_list(self) -> CollectionDef.Int64List: ...
    @property
    def float_list(self) -> CollectionDef.FloatList: ...
    def __init__(
        self,
        *,
        node_list: CollectionDef.NodeList | collections.abc.Mapping[str, typing.Any] | None = ...,
        bytes_list: CollectionDef.BytesList | collections.abc.Mapping[str, typing.Any] | None = ...,
        int64_list: CollectionDef.Int64List | collections.abc.Mapping[str, typing.Any] | None = ...,
        float_list: CollectionDef.FloatList | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class SaverDef(Message):
    LEGACY: typing.Final = 0
    V1: typing.Final = 1
    V2: typing.Final = 2
    filename_tensor_name: builtins.str
    save_tensor_name: builtins.str
    restore_op_name: builtins.str
    max_to_keep: builtins.int
    sharded: builtins.bool
    keep_checkpoint_every_n_hours: builtins.float
    version: builtins.int
    def __init__(
        self,
        *,
        filename_tensor_name: builtins.str | None = ...,
        save_tensor_name: builtins.str | None = ...,
        restore_op_name: builtins.str | None = ...,
        max_to_keep: builtins.int | None = ...,
        sharded: builtins.bool | None = ...,
        keep_checkpoint_every_n_hours: builtins.float | None = ...,
        version: builtins.int | None = ...,
    ) -> None: ...

class SignatureDef(Message):
    @property
    def inputs(self) -> MessageMap[builtins.str, TensorInfo]: ...
    @property
    def outputs(self) -> MessageMap[builtins.str, TensorInfo]: ...
    method_name: builtins.str
    @property
    def defaults(self) -> MessageMap[builtins.str, TensorProto]: ...
    def __init__(
        self,
        *,
        inputs: collections.abc.Mapping[builtins.str, TensorInfo] | None = ...,
        outputs: collections.abc.Mapping[builtins.str, TensorInfo] | None = ...,
        method_name: builtins.str | None = ...,
        defaults: collections.abc.Mapping[builtins.str, TensorProto] | None = ...,
    ) -> None: ...

class TensorInfo(Message):
    class CooSparse(Message):
        values_tensor_name: builtins.str
        indices_tensor_name: builtins.str
        dense_shape_tensor_name: builtins.str
        def __init__(
            self,
            *,
            values_tensor_name: builtins.str | None = ...,
            indices_tensor_name: builtins.str | None = ...,
            dense_shape_tensor_name: builtins.str | None = ...,
        ) -> None: ...
    name: builtins.str
    @property
    def coo_sparse(self) -> TensorInfo.CooSparse: ...
    dtype: builtins.int
    @property
    def tensor_shape(self) -> TensorShapeProto: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        coo_sparse: TensorInfo.CooSparse | collections.abc.Mapping[str, typing.Any] | None = ...,
        dtype: builtins.int | None = ...,
        tensor_shape: TensorShapeProto | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class AssetFileDef(Message):
    @property
    def tensor_info(self) -> TensorInfo: ...
    filename: builtins.str
    def __init__(
        self,
        *,
        tensor_info: TensorInfo | collections.abc.Mapping[str, typing.Any] | None = ...,
        filename: builtins.str | None = ...,
    ) -> None: ...

class VariableDef(Message):
    variable_name: builtins.str
    initializer_name: builtins.str
    snapshot_name: builtins.str
    @property
    def save_slice_info_def(self) -> SaveSliceInfoDef: ...
    is_resource: builtins.bool
    initial_value_name: builtins.str
    trainable: builtins.bool
    synchronization: builtins.int
    aggregation: builtins.int
    def __init__(
        self,
        *,
        variable_name: builtins.str | None = ...,
        initializer_name: builtins.str | None = ...,
        snapshot_name: builtins.str | None = ...,
        save_slice_info_def: SaveSliceInfoDef | collections.abc.Mapping[str, typing.Any] | None = ...,
        is_resource: builtins.bool | None = ...,
        initial_value_name: builtins.str | None = ...,
        trainable: builtins.bool | None = ...,
        synchronization: builtins.int | None = ...,
        aggregation: builtins.int | None = ...,
    ) -> None: ...

class SaveSliceInfoDef(Message):
    full_name: builtins.str
    @property
    def full_shape(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def var_offset(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def var_shape(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    def __init__(
        self,
        *,
        full_name: builtins.str | None = ...,
        full_shape: collections.abc.Iterable[builtins.int] | None = ...,
        var_offset: collections.abc.Iterable[builtins.int] | None = ...,
        var_shape: collections.abc.Iterable[builtins.int] | None = ...,
    ) -> None: ...

class SavedObjectGraph(Message):
    @property
    def nodes(self) -> RepeatedCompositeFieldContainer[SavedObject]: ...
    def __init__(
        self,
        *,
        nodes: collections.abc.Iterable[SavedObject] | None = ...,
    ) -> None: ...

class SavedObject(Message):
    @property
    def children(self) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject.ObjectReference]: ...
    @property
    def slot_variables(self) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject.SlotVariableReference]: ...
    @property
    def user_object(self) -> SavedUserObject: ...
    @property
    def variable(self) -> SavedVariable: ...
    registered_name: builtins.str
    def __init__(
        self,
        *,
        children: collections.abc.Iterable[TrackableObjectGraph.TrackableObject.ObjectReference] | None = ...,
        slot_variables: collections.abc.Iterable[TrackableObjectGraph.TrackableObject.SlotVariableReference] | None = ...,
        user_object: SavedUserObject | collections.abc.Mapping[str, typing.Any] | None = ...,
        variable: SavedVariable | collections.abc.Mapping[str, typing.Any] | None = ...,
        registered_name: builtins.str | None = ...,
    ) -> None: ...

class SavedUserObject(Message):
    identifier: builtins.str
    metadata: builtins.str
    def __init__(
        self,
        *,
        identifier: builtins.str | None = ...,
        metadata: builtins.str | None = ...,
    ) -> None: ...

class SavedVariable(Message):
    dtype: builtins.int
    @property
    def shape(self) -> TensorShapeProto: ...
    trainable: builtins.bool
    synchronization: builtins.int
    aggregation: builtins.int
    name: builtins.str
    device: builtins.str
    def __init__(
        self,
        *,
        dtype: builtins.int | None = ...,
        shape: TensorShapeProto | collections.abc.Mapping[str, typing.Any] | None = ...,
        trainable: builtins.bool | None = ...,
        synchronization: builtins.int | None = ...,
        aggregation: builtins.int | None = ...,
        name: builtins.str | None = ...,
        device: builtins.str | None = ...,
    ) -> None: ...

class TrackableObjectGraph(Message):
    class TrackableObject(Message):
        class ObjectReference(Message):
            node_id: builtins.int
            local_name: builtins.str
            def __init__(
                self,
                *,
                node_id: builtins.int | None = ...,
                local_name: builtins.str | None = ...,
            ) -> None: ...
        class SlotVariableReference(Message):
            original_variable_node_id: builtins.int
            slot_name: builtins.str
            slot_variable_node_id: builtins.int
            def __init__(
                self,
                *,
                original_variable_node_id: builtins.int | None = ...,
                slot_name: builtins.str | None = ...,
                slot_variable_node_id: builtins.int | None = ...,
            ) -> None: ...
        class SerializedTensor(Message):
            name: builtins.str
            full_name: builtins.str
            checkpoint_key: builtins.str
            def __init__(
                self,
                *,
                name: builtins.str | None = ...,
                full_name: builtins.str | None = ...,
                checkpoint_key: builtins.str | None = ...,
            ) -> None: ...
        @property
        def children(self) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject.ObjectReference]: ...
        @property
        def attributes(self) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject.SerializedTensor]: ...
        @property
        def slot_variables(self) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject.SlotVariableReference]: ...
        def __init__(
            self,
            *,
            children: collections.abc.Iterable[TrackableObjectGraph.TrackableObject.ObjectReference] | None = ...,
            attributes: collections.abc.Iterable[TrackableObjectGraph.TrackableObject.SerializedTensor] | None = ...,
            slot_variables: collections.abc.Iterable[TrackableObjectGraph.TrackableObject.SlotVariableReference] | None = ...,
        ) -> None: ...
    @property
    def nodes(self) -> RepeatedCompositeFieldContainer[TrackableObjectGraph.TrackableObject]: ...
    def __init__(
        self,
        *,
        nodes: collections.abc.Iterable[TrackableObjectGraph.TrackableObject] | None = ...,
    ) -> None: ...

class RunMetadataSlices(Message):
    @property
    def step_stats(self) -> StepStatsSlices: ...
    def __init__(
        self,
        *,
        step_stats: StepStatsSlices | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class StepStatsSlices(Message):
    @property
    def dev_stats(self) -> RepeatedCompositeFieldContainer[DeviceStepStatsSlices]: ...
    def __init__(
        self,
        *,
        dev_stats: collections.abc.Iterable[DeviceStepStatsSlices] | None = ...,
    ) -> None: ...

class DeviceStepStatsSlices(Message):
    device: builtins.str
    @property
    def node_stats(self) -> RepeatedScalarFieldContainer[builtins.bytes]: ...
    def __init__(
        self,
        *,
        device: builtins.str | None = ...,
        node_stats: collections.abc.Iterable[builtins.bytes] | None = ...,
    ) -> None: ...

class CodeDefSlices(Message):
    @property
    def traces(self) -> RepeatedScalarFieldContainer[builtins.bytes]: ...
    def __init__(
        self,
        *,
        traces: collections.abc.Iterable[builtins.bytes] | None = ...,
    ) -> None: ...

class NodeDefSlices(Message):
    name: builtins.str
    op: builtins.str
    @property
    def input(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    @property
    def attr(self) -> RepeatedScalarFieldContainer[builtins.bytes]: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        op: builtins.str | None = ...,
        input: collections.abc.Iterable[builtins.str] | None = ...,
        attr: collections.abc.Iterable[builtins.bytes] | None = ...,
    ) -> None: ...

class AttrEntry(Message):
    name: builtins.str
    @property
    def value(self) -> AttrValue: ...
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        value: AttrValue | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class GraphDefSlices(Message):
    @property
    def node(self) -> RepeatedCompositeFieldContainer[NodeDefSlices]: ...
    @property
    def library(self) -> FunctionDefLibrarySlices: ...
    def __init__(
        self,
        *,
        node: collections.abc.Iterable[NodeDefSlices] | None = ...,
        library: FunctionDefLibrarySlices | collections.abc.Mapping[str, typing.Any] | None = ...,
    ) -> None: ...

class FunctionDefLibrarySlices(Message):
    @property
    def function(self) -> RepeatedCompositeFieldContainer[FunctionDefSlices]: ...
    def __init__(
        self,
        *,
        function: collections.abc.Iterable[FunctionDefSlices] | None = ...,
    ) -> None: ...

class FunctionDefSlices(Message):
    @property
    def signature(self) -> OpDef: ...
    @property
    def node_def(self) -> RepeatedCompositeFieldContainer[NodeDefSlices]: ...
    @property
    def ret(self) -> ScalarMap[builtins.str, builtins.str]: ...
    @property
    def control_ret(self) -> ScalarMap[builtins.str, builtins.str]: ...
    @property
    def arg_attr(self) -> MessageMap[builtins.int, ArgAttrsSlices]: ...
    def __init__(
        self,
        *,
        signature: OpDef | collections.abc.Mapping[str, typing.Any] | None = ...,
        node_def: collections.abc.Iterable[NodeDefSlices] | None = ...,
        ret: collections.abc.Mapping[builtins.str, builtins.str] | None = ...,
        control_ret: collections.abc.Mapping[builtins.str, builtins.str] | None = ...,
        arg_attr: collections.abc.Mapping[builtins.int, ArgAttrsSlices] | None = ...,
    ) -> None: ...

class ArgAttrsSlices(Message):
    @property
    def attr(self) -> RepeatedScalarFieldContainer[builtins.bytes]: ...
    def __init__(
        self,
        *,
        attr: collections.abc.Iterable[builtins.bytes] | None = ...,
    ) -> None: ...

class ProfileNodeSlices(Message):
    op: builtins.str
    @property
    def attrs(self) -> RepeatedScalarFieldContainer[builtins.bytes]: ...
    def __init__(
        self,
        *,
        op: builtins.str | None = ...,
        attrs: collections.abc.Iterable[builtins.bytes] | None = ...,
    ) -> None: ...

class SavedProfile(Message):
    @property
    def nodes(self) -> MessageMap[builtins.int, SavedNode]: ...
    has_trace: builtins.bool
    @property
    def steps(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def id_to_string(self) -> ScalarMap[builtins.int, builtins.str]: ...
    miss_accelerator_stream: builtins.bool
    @property
    def step_details(self) -> RepeatedScalarFieldContainer[builtins.bytes]: ...
    @property
    def detail_strings(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    def __init__(
        self,
        *,
        nodes: collections.abc.Mapping[builtins.int, SavedNode] | None = ...,
        has_trace: builtins.bool | None = ...,
        steps: collections.abc.Iterable[builtins.int] | None = ...,
        id_to_string: collections.abc.Mapping[builtins.int, builtins.str] | None = ...,
        miss_accelerator_stream: builtins.bool | None = ...,
        step_details: collections.abc.Iterable[builtins.bytes] | None = ...,
        detail_strings: collections.abc.Iterable[builtins.str] | None = ...,
    ) -> None: ...

class SavedNode(Message):
    name: builtins.str
    @property
    def inputs(self) -> ScalarMap[builtins.int, builtins.int]: ...
    @property
    def shape(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    @property
    def op_types(self) -> RepeatedScalarFieldContainer[builtins.str]: ...
    canonical_device: builtins.str
    float_ops: builtins.int
    op: builtins.str
    @property
    def trace(self) -> RepeatedScalarFieldContainer[builtins.bytes]: ...
    @property
    def attrs(self) -> RepeatedCompositeFieldContainer[EntrySlices]: ...
    @property
    def execs(self) -> MessageMap[builtins.int, ExecProfile]: ...
    @property
    def src_output_index(self) -> ScalarMap[builtins.int, builtins.int]: ...
    @property
    def output_shapes(self) -> MessageMap[builtins.int, Tuple]: ...
    @property
    def input_ports(self) -> RepeatedScalarFieldContainer[builtins.int]: ...
    further_runs: builtins.int
    def __init__(
        self,
        *,
        name: builtins.str | None = ...,
        inputs: collections.abc.Mapping[builtins.int, builtins.int] | None = ...,
        shape: collections.abc.Iterable[builtins.int] | None = ...,
        op_types: collections.abc.Iterable[builtins.str] | None = ...,
        canonical_device: builtins.str | None = ...,
        float_ops: builtins.int | None = ...,
        op: builtins.str | None = ...,
        trace: collections.abc.Iterable[builtins.bytes] | None = ...,
        attrs: collections.abc.Iterable[EntrySlices] | None = ...,
        execs: collections.abc.Mapping[builtins.int, ExecProfile] | None = ...,
        src_output_index: collections.abc.Mapping[builtins.int, builtins.int] | None = ...,
        output_shapes: collections.abc.Mapping[builtins.int, Tuple] | None = ...,
        input_ports: collections.abc.Iterable[builtins.int] | None = ...,
        further_runs: builtins.int | None = ...,
    ) -> None: ...

class SavedNodes(Message):
    @property
    def nodes(self) -> RepeatedCompositeFieldContainer[EntrySlices]: ...
    def __init__(
        self,
        *,
        nodes: collections.abc.Iterable[EntrySlices] | None = ...,
    ) -> None: ...

class EntrySlices(Message):
    key: builtins.bytes
    @property
    def value(self) -> RepeatedScalarFieldContainer[builtins.bytes]: ...
    def __init__(
        self,
        *,
        key: builtins.bytes | None = ...,
        value: collections.abc.Iterable[builtins.bytes] | None = ...,
    ) -> None: ...

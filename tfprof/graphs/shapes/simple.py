"""Op types whose output shapes are those of inputs, always the same, or spelled out."""

from __future__ import annotations

from tfprof.graphs.model.tensors import PartialShape
from tfprof.graphs.shapes.rules import SHAPES, Rule, with_onednn

OPTIMIZERS = """
    AdaMax Adadelta Adagrad AdagradDA AdagradV2 Adam AdamWithAmsgrad AddSign CenteredRMSProp Ftrl
    FtrlV2 GradientDescent KerasMomentum Momentum PowerSign ProximalAdagrad ProximalGradientDescent
    RMSProp
"""
_DENSE_ONLY = ("GradientDescent", "Adam", "AdaMax", "AddSign", "PowerSign", "AdamWithAmsgrad")
"""Optimizers without an op for sparse gradients."""

_RESOURCES_ONLY = ("KerasMomentum", "AdamWithAmsgrad")
"""Optimizers without an op for the variables of TensorFlow 1."""


def updates_of(optimizer: str) -> list[str]:
    """The dense and sparse updates of resources and of TF1's variables."""
    kinds = ["ResourceApply", "Apply", "ResourceSparseApply", "SparseApply"]
    if optimizer in _DENSE_ONLY:
        kinds = kinds[:2]
    if optimizer in _RESOURCES_ONLY:
        kinds = kinds[::2]
    return [kind + optimizer for kind in kinds]


_LIKE_INPUTS = {
    (0,): """
        Abs Acos Acosh AdjustContrast AdjustContrastv2 AdjustHue AdjustSaturation Angle AsString
        Asin Asinh AssignAdd AssignSub Atan Atanh BatchFFT BatchFFT2D BatchFFT3D BatchIFFT
        BatchIFFT2D BatchIFFT3D BatchMatrixBandPart BatchMatrixSetDiag
        BatchNormWithGlobalNormalization BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1
        BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 BiasAdd BiasAddV1 Bucketize Cast
        Ceil CheckNumerics CheckNumericsV2 CollectiveAllToAllV2 CollectiveAllToAllV3
        CollectiveBcastSendV2 CollectivePermute CollectiveReduce CollectiveReduceV2
        CollectiveReduceV3 ComplexAbs Conj Conv2DBackpropInputV2 Conv3DBackpropInput Copy CopyHost
        CopyToMesh CopyToMeshGrad Cos Cosh Cross CrossReplicaSum Cumprod Cumsum CumulativeLogsumexp
        DataFormatDimMap DataFormatVecPermute Dawsn DebugGradientIdentity DebugGradientRefIdentity
        DebugIdentity DebugIdentityV2 DebugIdentityV3 DecodeBase64 DecodeCompressed
        DecodeJSONExample DeepCopy DestroyTemporaryVariable Digamma Dilation2DBackpropInput
        DrawBoundingBoxes DrawBoundingBoxesV2 Elu EncodeBase64 Enter Erf Erfc Erfinv Exit Exp Expint
        Expm1 FFT FFT2D FFT3D FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient
        FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel Floor FractionalMaxPoolGrad
        FresnelCos FresnelSin GuaranteeConst HSVToRGB IFFT IFFT2D IFFT3D Identity Imag InplaceAdd
        InplaceSub InplaceUpdate Inv Invert InvertPermutation IsFinite IsInf IsNan LRN LeakyRelu
        Lgamma Log Log1p LogSoftmax LogicalNot MakeUnique MatrixBandPart MatrixSetDiag
        MatrixSetDiagV2 MatrixSetDiagV3 MaxPoolGradV2 MaxPoolGradWithArgmax NcclAllReduce Ndtri Neg
        NextIteration OnesLike PopulationCount PreventGradient Print QuantizeAndDequantize
        QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 RGBToHSV
        RandomShuffle Real Reciprocal RefEnter RefExit RefIdentity RefNextIteration RegexFullMatch
        RegexReplace Relayout RelayoutLike Relu Relu6 Reverse ReverseSequence ReverseV2 Rint RiscAbs
        RiscCeil RiscCos RiscExp RiscFloor RiscIsFinite RiscLog RiscNeg RiscSign Roll Round Rsqrt
        ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdMax
        ScatterNdMin ScatterNdNonAliasingAdd ScatterNdSub ScatterNdUpdate ScatterSub ScatterUpdate
        Selu Sigmoid Sign Sin Sinh SleepIdentityOp Snapshot Softmax Softplus Softsign Spence Sqrt
        Square StatelessShuffle StaticRegexFullMatch StaticRegexReplace StochasticCastToInt
        StopGradient StridedSliceAssign StringLength StringLower StringStrip StringToHashBucket
        StringToHashBucketFast StringToHashBucketStrong StringToNumber StringUpper Substr
        TPUAnnotateTensorsWithDynamicShape TPUCopyWithDynamicShape Tan Tanh TensorListPushBackBatch
        TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate
        TensorStridedSliceUpdate UnicodeScript UnicodeTranscode UniformDequantize UniformQuantize
        UniformQuantizedClipByValue UniformRequantize XlaAllReduce XlaClusterOutput
        XlaDynamicUpdateSlice XlaOptimizationBarrier XlaReducePrecision
        XlaRemoveDynamicDimensionSize XlaScatter XlaSelectAndScatter XlaSetBound
        XlaSetDynamicDimensionSize XlaSharding XlaSort ZerosLike _CopyFromGpuToHost
        _CopyFromHostToGpu _HostCast _MklFusedInstanceNorm _MklFusedMish _MklLayerNorm _MklSoftmax
        _MklSwish _TensorToHashBucketFast _UnaryOpsComposition
    """,
    (1,): """
        Conv2DBackpropFilterV2 Conv3DBackpropFilter Dilation2DBackpropFilter LowerBound
        MaxPool3DGradGrad MaxPoolGradGrad MaxPoolGradGradV2 StackPush StackPushV2 TridiagonalSolve
        UpperBound
    """,
    (2,): "MaxPoolGradGradWithArgmax",
    (3,): "SparseTensorDenseAdd TridiagonalMatMul",
    (0, 0): "IsotonicRegression RefSwitch Switch",
    (0, 1): "XlaKeyValueSort",
    (1, 2, 3): """
        FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannelGradient
        QuantizeAndDequantizeV4Grad
    """,
    (0, 1, 2, 3): "CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3",
    (1, 2, 3, 4, 5, 6, 7, 8): "BlockLSTMGrad BlockLSTMGradV2",
}
"""Op types whose outputs have the shapes of some inputs, by the places of these."""

_FIXED: dict[tuple[PartialShape, ...], str] = {
    (): """
        AccumulatorApplyGradient AssignAddVariableOp AssignSubVariableOp NegTrain
        ResourceAccumulatorApplyGradient ResourceScatterAdd ResourceScatterDiv ResourceScatterMax
        ResourceScatterMin ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdMax
        ResourceScatterNdMin ResourceScatterNdSub ResourceScatterSub SparseAccumulatorApplyGradient
    """,
    ((),): """
        AnonymousHashTable AnonymousIterator AnonymousMutableDenseHashTable
        AnonymousMutableHashTable AnonymousMutableHashTableOfTensors AudioSummary AudioSummaryV2
        BarrierIncompleteSize BarrierReadySize ComputeBatchSize CountUpTo DatasetCardinality
        DenseToCSRSparseMatrix DeviceIndex DevicePlacementOp EmptyTensorList EmptyTensorMap
        EncodeJpeg EncodePng EncodeWav FIFOQueueV2 HashTableV2 HistogramSummary ImageSummary
        IsVariableInitialized Iterator IteratorV2 KMC2ChainInitialization L2Loss LookupTableSize
        LookupTableSizeV2 LoopCond MapIncompleteSize MapSize MergeSummary MutableDenseHashTableV2
        MutableHashTableOfTensorsV2 MutableHashTableV2 MutexV2 OneShotIterator OptionalHasValue
        OrderedMapIncompleteSize OrderedMapSize PaddingFIFOQueueV2 PriorityQueueV2 QueueIsClosed
        QueueIsClosedV2 QueueSize QueueSizeV2 RandomShuffleQueueV2 Rank ReadFile ResourceCountUpTo
        ScalarSummary SerializeTensor ShardedFilename ShardedFilespec Size SparseMatrixAdd
        SparseMatrixMul SparseMatrixSoftmax SparseMatrixSoftmaxGrad SparseMatrixSparseCholesky
        SparseMatrixSparseMatMul SparseMatrixTranspose SparseMatrixZeros
        SparseTensorToCSRSparseMatrix StackV2 StageSize StatelessRandomGetAlg StringFormat
        SummaryWriter TensorArrayScatter TensorArrayScatterV2 TensorArrayScatterV3 TensorArraySize
        TensorArraySizeV2 TensorArraySizeV3 TensorArraySplit TensorArraySplitV2 TensorArraySplitV3
        TensorArrayUnpack TensorArrayWrite TensorArrayWriteV2 TensorArrayWriteV3
        TensorListConcatLists TensorListFromTensor TensorListLength TensorListPushBack
        TensorListReserve TensorListResize TensorListScatter TensorListScatterIntoExistingList
        TensorListScatterV2 TensorListSetItem TensorListSplit TensorMapErase TensorMapHasKey
        TensorMapInsert TensorMapSize TensorSummary TensorSummaryV2 Timestamp ToBool VarHandleOp
        VarIsInitializedOp XlaReplicaId _XlaAotOnlyVarHandleOp
    """,
    ((1,),): "CudnnRNNParamsSize",
    ((2,),): "Stack TensorArray TensorArrayGrad TensorArrayGradV2 TensorArrayV2",
    ((3,),): "ExtractJpegShape",
    (None,): "AccumulatorTakeGradient ResourceAccumulatorTakeGradient",
    ((), ()): """
        ReaderRead ReaderReadV2 RequantizationRange RequantizationRangePerChannel TensorArrayGradV3
        TensorArrayGradWithShape TensorArrayV3
    """,
    ((None,),): """
        CudnnRNNCanonicalToParams CudnnRNNCanonicalToParamsV2 MatchingFiles NonMaxSuppression
        NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionWithOverlaps RecordInput
    """,
    ((None, None),): "AudioMicrofrontend",
    ((1,), (2,)): "StatelessRandomGetKeyCounter",
    ((1,), (2,), ()): "StatelessRandomGetKeyCounterAlg",
    ((None,), (None,)): "ReaderReadUpTo ReaderReadUpToV2",
    ((3,), (3,), (1, 1, 4)): """
        SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 StatelessSampleDistortedBoundingBox
    """,
    ((None, None, None, 3),): "DecodeGif",
    ((None,), None, (None,)): "SparseAccumulatorTakeGradient",
    ((None, 2), (None,), (2,)): """
        SparseCross SparseCrossHashed SparseCrossV2 StringSplit StringSplitV2
    """,
    ((None,), (None,), (None,)): "CSRSparseMatrixComponents ComputeAccidentalHits",
    ((None, None), (None,), (None,)): """
        DenseCountSparseOutput DenseToDenseSetOperation DenseToSparseSetOperation
        RaggedCountSparseOutput SparseCountSparseOutput SparseToSparseSetOperation
    """,
}
"""Op types whose outputs always have the same shapes, by these."""

_SPELLED = {
    0: """
        Empty Fill NonDeterministicInts ParameterizedTruncatedNormal RandomStandardNormal
        RandomUniform RandomUniformInt StatelessParameterizedTruncatedNormal StatelessRandomBinomial
        StatelessRandomGammaV2 StatelessRandomGammaV3 StatelessRandomNormal StatelessRandomNormalV2
        StatelessRandomPoisson StatelessRandomUniform StatelessRandomUniformFullInt
        StatelessRandomUniformFullIntV2 StatelessRandomUniformInt StatelessRandomUniformIntV2
        StatelessRandomUniformV2 StatelessTruncatedNormal StatelessTruncatedNormalV2
        StridedSliceGrad TruncatedNormal
    """,
    1: "BroadcastTo SparseToDense StatefulStandardNormal",
    2: """
        ScatterNd StatefulRandomBinomial StatefulStandardNormalV2 StatefulTruncatedNormal
        StatefulUniform StatefulUniformFullInt StatefulUniformInt XlaDynamicSlice
    """,
    3: "CollectiveBcastRecvV2",
}
"""Op types with one output, whose shape an input spells out, by the place of this input."""

_ATTRIBUTES = {
    "shape": """
        CollectiveBcastRecv CollectiveBcastSend CollectiveGather FakeParam ImmutableConst
        InfeedDequeue NcclBroadcast OutfeedDequeue OutfeedDequeueV2 ParallelConcat Placeholder
        PlaceholderV2 PlaceholderWithDefault TemporaryVariable VariableV2 XlaCustomCall XlaRecv _Arg
    """,
    "full_shape": "XlaSpmdShardToFullShape",
    "Toutput_shape": "XlaRecvFromHost",
}
"""Op types with one output, whose shape is an attribute, by its name.

What is fed to a ``PlaceholderWithDefault`` may have another shape than the default.
"""


def _like_inputs(*indices: int) -> Rule[PartialShape]:
    return lambda op: [op.input(index).shape for index in indices]


def _fixed(shapes: tuple[PartialShape, ...]) -> Rule[PartialShape]:
    return lambda op: shapes


def _spelled(index: int) -> Rule[PartialShape]:
    return lambda op: [op.spelled_shape(index)]


def _attribute(name: str) -> Rule[PartialShape]:
    return lambda op: [op.shape_attr(name)]


for _indices, _op_types in _LIKE_INPUTS.items():
    SHAPES.of(_op_types)(_like_inputs(*_indices))
for _shapes, _op_types in _FIXED.items():
    SHAPES.of(_op_types)(_fixed(_shapes))
for _index, _op_types in _SPELLED.items():
    SHAPES.of(_op_types)(_spelled(_index))
for _name, _op_types in _ATTRIBUTES.items():
    SHAPES.of(_op_types)(_attribute(_name))
for _update in [update for name in OPTIMIZERS.split() for update in updates_of(name)]:
    SHAPES.of(_update)(_fixed(()) if _update.startswith("Resource") else _like_inputs(0))
SHAPES.of(*with_onednn("Dequantize", "MaxPoolGrad", "MaxPool3DGrad"))(_like_inputs(0))

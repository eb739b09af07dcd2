"""Ops without float operations, by reason: they move, describe, store or transport tensors."""

from __future__ import annotations

import re
from fnmatch import translate

from tfprof.graphs.flops.formulas import FREE, declare_free
from tfprof.graphs.read.op_outputs import op_types

OP_TYPES = {
    "makes a constant or takes what is fed in, computes nothing": """
        Const Empty FakeParam Fill HostConst ImmutableConst OnesLike Placeholder PlaceholderV2
        PlaceholderWithDefault TPUDummyInput ZerosLike _Arg _DeviceArg _DeviceRetval _EagerConst
        _Retval
    """,
    "passes its input on as it is": """
        Copy CopyHost DeepCopy EnsureShape GuaranteeConst Identity IdentityN PreventGradient
        RefIdentity Relayout RelayoutLike SleepIdentityOp Snapshot StopGradient
        TPUAnnotateTensorsWithDynamicShape TPUCopyWithDynamicShape XlaClusterOutput
        XlaOptimizationBarrier XlaRemoveDynamicDimensionSize XlaReplicaId XlaSetBound
        XlaSetDynamicDimensionSize XlaSharding XlaSpmdFullToShardShape XlaSpmdShardToFullShape
        _ArrayToList _ListToArray
    """,
    "moves elements, computes nothing": """
        *MatrixDiag* BatchMatrixBandPart BatchMatrixSetDiag BatchToSpace BatchToSpaceND BroadcastTo
        Concat ConcatV2 ConjugateTranspose CudnnRNNCanonicalToParams CudnnRNNCanonicalToParamsV2
        CudnnRNNParamsToCanonical CudnnRNNParamsToCanonicalV2 DepthToSpace Diag DiagPart
        DrawBoundingBoxes DrawBoundingBoxesV2 ExpandDims ExtractGlimpse ExtractGlimpseV2
        ExtractImagePatches ExtractVolumePatches InplaceUpdate MatrixBandPart MatrixSetDiag
        MatrixSetDiagV2 MatrixSetDiagV3 MirrorPad Pack Pad PadV2 ParallelConcat RandomCrop Reshape
        ResourceStridedSliceAssign Reverse ReverseSequence ReverseV2 RiscBroadcast RiscConcat
        RiscPad RiscReshape RiscReverse RiscSlice RiscSqueeze RiscTranspose Roll Slice SpaceToBatch
        SpaceToBatchND SpaceToDepth Split SplitV Squeeze StridedSlice StridedSliceAssign
        StridedSliceGrad TensorStridedSliceUpdate Tile Transpose Unpack XlaBroadcastHelper
        XlaConcatND XlaDynamicSlice XlaDynamicUpdateSlice XlaPad XlaSplitND _MklConcat _MklConcatV2
        _MklConjugateTranspose _MklTranspose _ParallelConcatStart _ParallelConcatUpdate
        _ScopedAllocator _ScopedAllocatorConcat _ScopedAllocatorSplit
    """,
    "picks or places elements by index, computes nothing": """
        Batch DynamicPartition DynamicStitch Gather GatherNd GatherV2 LoadAndRemapMatrix OneHot
        ParallelDynamicStitch RaggedCross RaggedFillEmptyRows RaggedGather RaggedRange
        RaggedTensorFromVariant RaggedTensorToSparse RaggedTensorToTensor RaggedTensorToVariant
        RefSelect ResourceGather ResourceGatherNd ResourceScatterNdUpdate ResourceScatterUpdate
        RiscGather ScatterNdUpdate ScatterUpdate TensorScatterUpdate Unbatch UnbatchGrad XlaGather
    """,
    "reads and computes sizes, which are integers": """
        BroadcastArgs BroadcastGradientArgs ComputeBatchSize ConcatOffset CudnnRNNParamsSize
        DataFormatDimMap DataFormatVecPermute ExtractJpegShape InvertPermutation Rank RiscShape
        Shape ShapeN Size TensorListElementShape UnravelIndex VariableShape
    """,
    "searches and compares indices, no float arithmetic": """
        BoostedTreesBucketize Fingerprint GenerateVocabRemapping ListDiff Unique UniqueV2
        UniqueWithCounts UniqueWithCountsV2 Where
    """,
    "computes with bits and truth values, no float arithmetic": """
        RiscLogicalAnd RiscLogicalNot RiscLogicalOr ToBool
    """,
    "changes the type of elements": """
        Bitcast Cast RiscBitcast RiscCast RiscImag RiscReal _HostCast
    """,
    "refers to, reads or sets a variable": """
        Assign AssignVariableOp AssignVariableXlaConcatND ConsumeMutexLock DestroyResourceOp
        DestroyTemporaryVariable DisableCopyOnRead IsResourceHandleRefCounting IsVariableInitialized
        MakeWeakResourceHandle MutexLock MutexV2 ReadVariableOp ReadVariableXlaSplitND
        TemporaryVariable VarHandleOp VarIsInitializedOp Variable VariableV2 _ReadVariablesOp
        _VarHandlesOp _XlaAotOnlyVarHandleOp
    """,
    "steers which ops run, computes nothing": """
        Abort CheckPinned ControlTrigger DeviceIndex DevicePlacementOp Enter Exit GetDeadline
        IsTensorFloat32Enabled LoopCond Merge NextIteration NoOp RefEnter RefExit RefMerge
        RefNextIteration RefSwitch SleepOp Switch SyncDevice _SwitchN _XlaMerge
    """,
    "stores tensors in a list or array": """
        Stack* TensorArray* TensorList* TensorMap* CompositeTensorVariantFromComponents
        CompositeTensorVariantToComponents EmptyTensorList EmptyTensorMap
    """,
    "passes tensors through a queue": """
        *Queue* *Stage* Barrier* OrderedMap* MapClear MapIncompleteSize MapPeek MapSize MapUnstage
        MapUnstageNoKey RecordInput Unstage
    """,
    "looks up or stores elements of a table": """
        *HashTable* LookupTable* InitializeTable InitializeTableFromDataset
        InitializeTableFromTextFile InitializeTableFromTextFileV2 InitializeTableV2
    """,
    "feeds data in; what a dataset computes on the way is not part of the model": """
        *Dataset *DatasetV[0-9] *Iterator* *StatsAggregator* Dataset* Experimental*
        AnonymousMemoryCache AnonymousRandomSeedGenerator AnonymousSeedGenerator CompressElement
        DeleteMemoryCache DeleteRandomSeedGenerator DeleteSeedGenerator DummyIterationCounter
        DummyMemoryCache DummySeedGenerator GetElementAtIndex GetOptions OptionalFromValue
        OptionalGetValue OptionalHasValue OptionalNone ParseExampleDataset ParseExampleDatasetV2
        SnapshotDatasetReader SnapshotNestedDatasetReader ThreadPoolHandle UncompressElement
        UnwrapDatasetVariant WindowOp WrapDatasetVariant
    """,
    "reads or writes files": """
        *Reader* DTensorRestoreV2 DistributedSave FileSystemSetConfiguration MatchingFiles
        MergeV2Checkpoints ReadFile Restore RestoreSlice RestoreV2 Save SaveSlices SaveV2
        ShardedFilename ShardedFilespec WriteFile
    """,
    "works on text": """
        AsString DecodeBase64 EncodeBase64 Fact ReduceJoin RegexFullMatch RegexReplace SdcaFprint
        StaticRegexFullMatch StaticRegexReplace StringFormat StringJoin StringLength StringLower
        StringNGrams StringSplit StringSplitV2 StringStrip StringToHashBucket StringToHashBucketFast
        StringToHashBucketStrong StringToNumber StringUpper Substr UnicodeDecode
        UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript UnicodeTranscode UnsortedSegmentJoin
        _TensorToHashBucketFast
    """,
    "decodes or encodes images, sound or records; that is not arithmetic of the model": """
        Decode* EncodeJpeg EncodeJpegVariableQuality EncodePng EncodeProto EncodeWav
    """,
    "takes records apart or packs them": """
        Parse* AddManySparseToTensorsMap AddSparseToTensorsMap DeserializeManySparse
        DeserializeSparse SerializeManySparse SerializeSparse SerializeTensor
        TakeManySparseFromTensorsMap
    """,
    "stores or reads a model of decision trees, computes nothing": """
        BoostedTreesCreateEnsemble BoostedTreesCreateQuantileStreamResource
        BoostedTreesDeserializeEnsemble BoostedTreesEnsembleResourceHandleOp
        BoostedTreesExampleDebugOutputs BoostedTreesGetEnsembleStates
        BoostedTreesQuantileStreamResourceDeserialize
        BoostedTreesQuantileStreamResourceGetBucketBoundaries
        BoostedTreesQuantileStreamResourceHandleOp BoostedTreesSerializeEnsemble
        IsBoostedTreesEnsembleInitialized IsBoostedTreesQuantileStreamResourceInitialized
    """,
    "writes a summary, which is not arithmetic of the model": """
        AudioSummary AudioSummaryV2 CloseSummaryWriter CreateSummaryDbWriter CreateSummaryFileWriter
        FlushSummaryWriter HistogramSummary ImageSummary ImportEvent MergeSummary ScalarSummary
        SummaryWriter TensorSummary TensorSummaryV2 WriteAudioSummary WriteGraphSummary
        WriteHistogramSummary WriteImageSummary WriteRawProtoSummary WriteScalarSummary WriteSummary
    """,
    "checks or shows values": """
        Debug* Assert CheckNumerics CheckNumericsV2 DumpTensor Print PrintV2 Timestamp
    """,
    "sends data to another device or process": """
        Outfeed* Rpc* AllToAll CollectiveAllToAllV2 CollectiveAllToAllV3 CollectiveAssignGroupV2
        CollectiveBcastRecv CollectiveBcastRecvV2 CollectiveBcastSend CollectiveBcastSendV2
        CollectiveGather CollectiveGatherV2 CollectiveInitializeCommunicator CollectivePermute
        CopyToMesh CopyToMeshGrad DTensorAllGather DTensorAllScatter DTensorAllToAll
        DeleteRpcFutureResource DeleteSessionTensor GetSessionHandle GetSessionHandleV2
        GetSessionTensor InfeedDequeue InfeedDequeueTuple InfeedEnqueue
        InfeedEnqueuePrelinearizedBuffer InfeedEnqueueTuple NcclBroadcast Prelinearize
        PrelinearizeTuple Recv Send XlaRecv XlaRecvFromHost XlaSend XlaSendToHost _CopyFromGpuToHost
        _CopyFromHostToGpu _HostRecv _HostSend _NcclBroadcastRecv _NcclBroadcastSend _Recv _Send
        _XlaRecvAtHost _XlaRecvAtHostV2 _XlaSendFromHost _XlaSendFromHostV2
    """,
    "draws random integers, no float arithmetic": """
        NonDeterministicInts RandomIndexShuffle RandomShuffle RandomUniformInt RngReadAndSkip
        RngSkip StatefulUniformFullInt StatefulUniformInt StatelessRandomGetAlg
        StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg StatelessRandomUniformFullInt
        StatelessRandomUniformFullIntV2 StatelessRandomUniformInt StatelessRandomUniformIntV2
        StatelessShuffle
    """,
    "sets up an accelerator, or moves data for it": """
        *Configure*TPU* *EnqueueTPUEmbedding* Load*TPUEmbedding* Retrieve*TPUEmbedding*
        CollateTPUEmbeddingMemory ComputeDedupDataSize ComputeDedupDataSizeV2
        ComputeDedupDataTupleMask ComputeDedupDataTupleMaskV2 ConnectTPUEmbeddingHosts
        ConvertToCooTensor ConvertToListOfSparseCoreCooTensors
        ConvertToSparseCoreCsrWrappedCooTensor DTensorSetGlobalTPUArray
        ExecuteTPUEmbeddingPartitioner FinalizeTPUEmbedding FinalizeTPUEmbeddingV2
        GetMinibatchSplitsWithPhysicalReplica GetMinibatchesInCsrWithPhysicalReplica
        GetStatsFromListOfSparseCoreCooTensors GetTpuTaskId GlobalIterId IsTPUEmbeddingInitialized
        MergeDedupData ShutdownDistributedTPU ShutdownTPUSystem SortListOfSparseCoreCooTensors
        SplitDedupData StoreMinibatchStatisticsInFdo TPUCompilationResult TPUCompile
        TPUCompileSucceededAssert TPUEmbeddingActivations TPUOrdinalSelector TPUPartitionedInput
        TPUPartitionedInputV2 TPUPartitionedOutput TPUPartitionedOutputV2 TPUReplicateMetadata
        TPUReplicatedInput TPUReplicatedOutput TPUReshardVariables TPURoundRobin TpuHandleToProtoKey
        UpdateTaskIdAndGlobalCoreArray WorkerHeartbeat XlaRecvTPUEmbeddingDeduplicationData
        XlaRecvTPUEmbeddingDeduplicationDataV2 XlaSparseActivationsUnstack XlaSparseGradientsStack
        _DisconnectHostFromDistributedTPUSystem _InitializeHostForDistributedTPU _SetGlobalTPUArray
        _ShutdownDistributedTPU _TPUCompileMlir _WaitForDistributedTPU
        _XlaCompileMlirPlaceholderProgramKey
    """,
}
"""Op types by reason. A pattern such as ``TensorArray*`` is for those that are not listed."""

for _reason, _words in OP_TYPES.items():
    declare_free(*[word for word in _words.split() if "*" not in word], because=_reason)
for _reason, _words in OP_TYPES.items():
    _patterns = [translate(word) for word in _words.split() if "*" in word]
    if _patterns:
        _fits = re.compile("|".join(_patterns)).match
        _more = [name for name in op_types() if name not in FREE and _fits(name)]
        declare_free(*_more, because=_reason)

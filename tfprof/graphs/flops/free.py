"""Ops without float operations, by reason: they move, describe, store or transport tensors."""

from __future__ import annotations

from tfprof.graphs.flops.formulas import declare_free

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
        BatchMatrixBandPart BatchMatrixDiag BatchMatrixDiagPart BatchMatrixSetDiag BatchToSpace
        BatchToSpaceND BroadcastTo Concat ConcatV2 ConjugateTranspose CudnnRNNCanonicalToParams
        CudnnRNNCanonicalToParamsV2 CudnnRNNParamsToCanonical CudnnRNNParamsToCanonicalV2
        DepthToSpace Diag DiagPart DrawBoundingBoxes DrawBoundingBoxesV2 ExpandDims ExtractGlimpse
        ExtractGlimpseV2 ExtractImagePatches ExtractVolumePatches InplaceUpdate MatrixBandPart
        MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3
        MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MirrorPad Pack Pad PadV2 ParallelConcat
        RandomCrop Reshape ResourceStridedSliceAssign Reverse ReverseSequence ReverseV2
        RiscBroadcast RiscConcat RiscPad RiscReshape RiscReverse RiscSlice RiscSqueeze
        RiscTranspose Roll Slice SpaceToBatch SpaceToBatchND SpaceToDepth Split SplitV Squeeze
        StridedSlice StridedSliceAssign StridedSliceGrad TensorStridedSliceUpdate Tile Transpose
        Unpack XlaBroadcastHelper XlaConcatND XlaDynamicSlice XlaDynamicUpdateSlice XlaPad
        XlaSplitND _MklConcat _MklConcatV2 _MklConjugateTranspose _MklTranspose
        _ParallelConcatStart _ParallelConcatUpdate _ScopedAllocator _ScopedAllocatorConcat
        _ScopedAllocatorSplit
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
        DestroyTemporaryVariable DisableCopyOnRead IsResourceHandleRefCounting
        IsVariableInitialized MakeWeakResourceHandle MutexLock MutexV2 ReadVariableOp
        ReadVariableXlaSplitND TemporaryVariable VarHandleOp VarIsInitializedOp Variable
        VariableV2 _ReadVariablesOp _VarHandlesOp _XlaAotOnlyVarHandleOp
    """,
    "steers which ops run, computes nothing": """
        Abort CheckPinned ControlTrigger DeviceIndex DevicePlacementOp Enter Exit GetDeadline
        IsTensorFloat32Enabled LoopCond Merge NextIteration NoOp RefEnter RefExit RefMerge
        RefNextIteration RefSwitch SleepOp Switch SyncDevice _SwitchN _XlaMerge
    """,
    "stores tensors in a list or array": """
        CompositeTensorVariantFromComponents CompositeTensorVariantToComponents EmptyTensorList
        EmptyTensorMap Stack StackClose StackCloseV2 StackPop StackPopV2 StackPush StackPushV2
        StackV2 TensorArray TensorArrayClose TensorArrayCloseV2 TensorArrayCloseV3
        TensorArrayConcat TensorArrayConcatV2 TensorArrayConcatV3 TensorArrayGather
        TensorArrayGatherV2 TensorArrayGatherV3 TensorArrayGrad TensorArrayGradV2
        TensorArrayGradV3 TensorArrayGradWithShape TensorArrayPack TensorArrayRead
        TensorArrayReadV2 TensorArrayReadV3 TensorArrayScatter TensorArrayScatterV2
        TensorArrayScatterV3 TensorArraySize TensorArraySizeV2 TensorArraySizeV3 TensorArraySplit
        TensorArraySplitV2 TensorArraySplitV3 TensorArrayUnpack TensorArrayV2 TensorArrayV3
        TensorArrayWrite TensorArrayWriteV2 TensorArrayWriteV3 TensorListConcat
        TensorListConcatLists TensorListConcatV2 TensorListFromTensor TensorListGather
        TensorListGetItem TensorListLength TensorListPopBack TensorListPushBack
        TensorListPushBackBatch TensorListReserve TensorListResize TensorListScatter
        TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem TensorListSplit
        TensorListStack TensorMapErase TensorMapHasKey TensorMapInsert TensorMapLookup
        TensorMapSize TensorMapStackKeys
    """,
    "passes tensors through a queue": """
        Barrier BarrierClose BarrierIncompleteSize BarrierInsertMany BarrierReadySize
        BarrierTakeMany FIFOQueue FIFOQueueV2 FakeQueue MapClear MapIncompleteSize MapPeek MapSize
        MapStage MapUnstage MapUnstageNoKey OrderedMapClear OrderedMapIncompleteSize
        OrderedMapPeek OrderedMapSize OrderedMapStage OrderedMapUnstage OrderedMapUnstageNoKey
        PaddingFIFOQueue PaddingFIFOQueueV2 PriorityQueue PriorityQueueV2 QueueClose QueueCloseV2
        QueueDequeue QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2
        QueueDequeueV2 QueueEnqueue QueueEnqueueMany QueueEnqueueManyV2 QueueEnqueueV2
        QueueIsClosed QueueIsClosedV2 QueueSize QueueSizeV2 RandomShuffleQueue
        RandomShuffleQueueV2 RecordInput Stage StageClear StagePeek StageSize Unstage
    """,
    "looks up or stores elements of a table": """
        AnonymousHashTable AnonymousMutableDenseHashTable AnonymousMutableHashTable
        AnonymousMutableHashTableOfTensors HashTable HashTableV2 InitializeTable
        InitializeTableFromDataset InitializeTableFromTextFile InitializeTableFromTextFileV2
        InitializeTableV2 LookupTableExport LookupTableExportV2 LookupTableFind LookupTableFindV2
        LookupTableImport LookupTableImportV2 LookupTableInsert LookupTableInsertV2
        LookupTableRemoveV2 LookupTableSize LookupTableSizeV2 MutableDenseHashTable
        MutableDenseHashTableV2 MutableHashTable MutableHashTableOfTensors
        MutableHashTableOfTensorsV2 MutableHashTableV2
    """,
    "feeds data in; what a dataset computes on the way is not part of the model": """
        AnonymousIterator AnonymousIteratorV2 AnonymousIteratorV3 AnonymousMemoryCache
        AnonymousMultiDeviceIterator AnonymousMultiDeviceIteratorV3 AnonymousRandomSeedGenerator
        AnonymousSeedGenerator AssertCardinalityDataset AssertNextDataset AssertPrevDataset
        AutoShardDataset BatchDataset BatchDatasetV2 BytesProducedStatsDataset CSVDataset
        CSVDatasetV2 CacheDataset CacheDatasetV2 ChooseFastestBranchDataset ChooseFastestDataset
        CompressElement ConcatenateDataset DataServiceDataset DataServiceDatasetV2
        DataServiceDatasetV3 DataServiceDatasetV4 DatasetCardinality DatasetFingerprint
        DatasetFromGraph DatasetToGraph DatasetToGraphV2 DatasetToSingleElement DatasetToTFRecord
        DeleteIterator DeleteMemoryCache DeleteMultiDeviceIterator DeleteRandomSeedGenerator
        DeleteSeedGenerator DenseToSparseBatchDataset DeserializeIterator
        DirectedInterleaveDataset DummyIterationCounter DummyMemoryCache DummySeedGenerator
        ExperimentalAssertNextDataset ExperimentalAutoShardDataset
        ExperimentalBytesProducedStatsDataset ExperimentalCSVDataset
        ExperimentalChooseFastestDataset ExperimentalDatasetCardinality
        ExperimentalDatasetToTFRecord ExperimentalDenseToSparseBatchDataset
        ExperimentalDirectedInterleaveDataset ExperimentalGroupByReducerDataset
        ExperimentalGroupByWindowDataset ExperimentalIgnoreErrorsDataset
        ExperimentalIteratorGetDevice ExperimentalLMDBDataset ExperimentalLatencyStatsDataset
        ExperimentalMapAndBatchDataset ExperimentalMapDataset ExperimentalMatchingFilesDataset
        ExperimentalMaxIntraOpParallelismDataset ExperimentalNonSerializableDataset
        ExperimentalParallelInterleaveDataset ExperimentalParseExampleDataset
        ExperimentalPrivateThreadPoolDataset ExperimentalRandomDataset ExperimentalRebatchDataset
        ExperimentalScanDataset ExperimentalSetStatsAggregatorDataset ExperimentalSleepDataset
        ExperimentalSlidingWindowDataset ExperimentalSqlDataset ExperimentalStatsAggregatorHandle
        ExperimentalStatsAggregatorSummary ExperimentalTakeWhileDataset
        ExperimentalThreadPoolDataset ExperimentalThreadPoolHandle ExperimentalUnbatchDataset
        ExperimentalUniqueDataset FilterByLastComponentDataset FilterDataset FinalizeDataset
        FixedLengthRecordDataset FixedLengthRecordDatasetV2 FlatMapDataset GeneratorDataset
        GetElementAtIndex GetOptions GlobalShuffleDataset GroupByReducerDataset
        GroupByWindowDataset IgnoreErrorsDataset IndexFlatMapDataset InterleaveDataset Iterator
        IteratorFromStringHandle IteratorFromStringHandleV2 IteratorGetDevice
        IteratorGetModelProto IteratorGetNext IteratorGetNextAsOptional IteratorGetNextSync
        IteratorToStringHandle IteratorV2 LMDBDataset LatencyStatsDataset
        LegacyParallelInterleaveDatasetV2 ListDataset ListSnapshotChunksDataset LoadDataset
        MakeIterator MapAndBatchDataset MapDataset MatchingFilesDataset
        MaxIntraOpParallelismDataset ModelDataset MultiDeviceIterator
        MultiDeviceIteratorFromStringHandle MultiDeviceIteratorGetNextFromShard
        MultiDeviceIteratorInit MultiDeviceIteratorToStringHandle NonSerializableDataset
        OneShotIterator OptimizeDataset OptimizeDatasetV2 OptionalFromValue OptionalGetValue
        OptionalHasValue OptionalNone OptionsDataset PaddedBatchDataset PaddedBatchDatasetV2
        ParallelBatchDataset ParallelFilterDataset ParallelInterleaveDataset
        ParallelInterleaveDatasetV2 ParallelInterleaveDatasetV3 ParallelInterleaveDatasetV4
        ParallelMapDataset ParallelMapDatasetV2 ParseExampleDataset ParseExampleDatasetV2
        PrefetchDataset PrivateThreadPoolDataset RandomDataset RandomDatasetV2 RangeDataset
        RebatchDataset RebatchDatasetV2 ReduceDataset RegisterDataset RegisterDatasetV2
        RepeatDataset RewriteDataset SamplingDataset SaveDataset SaveDatasetV2 ScanDataset
        SerializeIterator SetStatsAggregatorDataset ShardDataset ShuffleAndRepeatDataset
        ShuffleAndRepeatDatasetV2 ShuffleDataset ShuffleDatasetV2 ShuffleDatasetV3 SkipDataset
        SleepDataset SlidingWindowDataset SnapshotChunkDataset SnapshotDataset
        SnapshotDatasetReader SnapshotDatasetV2 SnapshotNestedDatasetReader
        SparseTensorSliceDataset SqlDataset StatsAggregatorHandle StatsAggregatorHandleV2
        StatsAggregatorSetSummaryWriter StatsAggregatorSummary TFRecordDataset TFRecordDatasetV2
        TakeDataset TakeWhileDataset TensorDataset TensorSliceDataset TextLineDataset
        ThreadPoolDataset ThreadPoolHandle UnbatchDataset UncompressElement UniqueDataset
        UnwrapDatasetVariant WeightedFlatMapDataset WindowDataset WindowOp WrapDatasetVariant
        ZipDataset
    """,
    "reads or writes files": """
        DTensorRestoreV2 DistributedSave FileSystemSetConfiguration FixedLengthRecordReader
        FixedLengthRecordReaderV2 IdentityReader IdentityReaderV2 LMDBReader MatchingFiles
        MergeV2Checkpoints ReadFile ReaderNumRecordsProduced ReaderNumRecordsProducedV2
        ReaderNumWorkUnitsCompleted ReaderNumWorkUnitsCompletedV2 ReaderRead ReaderReadUpTo
        ReaderReadUpToV2 ReaderReadV2 ReaderReset ReaderResetV2 ReaderRestoreState
        ReaderRestoreStateV2 ReaderSerializeState ReaderSerializeStateV2 Restore RestoreSlice
        RestoreV2 Save SaveSlices SaveV2 ShardedFilename ShardedFilespec TFRecordReader
        TFRecordReaderV2 TextLineReader TextLineReaderV2 WholeFileReader WholeFileReaderV2
        WriteFile
    """,
    "works on text": """
        AsString DecodeBase64 EncodeBase64 Fact ReduceJoin RegexFullMatch RegexReplace SdcaFprint
        StaticRegexFullMatch StaticRegexReplace StringFormat StringJoin StringLength StringLower
        StringNGrams StringSplit StringSplitV2 StringStrip StringToHashBucket
        StringToHashBucketFast StringToHashBucketStrong StringToNumber StringUpper Substr
        UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript UnicodeTranscode
        UnsortedSegmentJoin _TensorToHashBucketFast
    """,
    "decodes or encodes images, sound or records; that is not arithmetic of the model": """
        DecodeAndCropJpeg DecodeBmp DecodeCSV DecodeCompressed DecodeGif DecodeImage
        DecodeJSONExample DecodeJpeg DecodeJxl DecodePaddedRaw DecodePng DecodeProtoV2 DecodeRaw
        DecodeWav DecodeWebP EncodeJpeg EncodeJpegVariableQuality EncodePng EncodeProto EncodeWav
    """,
    "takes records apart or packs them": """
        AddManySparseToTensorsMap AddSparseToTensorsMap DeserializeManySparse DeserializeSparse
        ParseExample ParseExampleV2 ParseSequenceExample ParseSequenceExampleV2 ParseSingleExample
        ParseSingleSequenceExample ParseTensor SerializeManySparse SerializeSparse SerializeTensor
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
        AudioSummary AudioSummaryV2 CloseSummaryWriter CreateSummaryDbWriter
        CreateSummaryFileWriter FlushSummaryWriter HistogramSummary ImageSummary ImportEvent
        MergeSummary ScalarSummary SummaryWriter TensorSummary TensorSummaryV2 WriteAudioSummary
        WriteGraphSummary WriteHistogramSummary WriteImageSummary WriteRawProtoSummary
        WriteScalarSummary WriteSummary
    """,
    "checks or shows values": """
        Assert CheckNumerics CheckNumericsV2 DebugGradientIdentity DebugGradientRefIdentity
        DebugIdentity DebugIdentityV2 DebugIdentityV3 DebugNanCount DebugNumericSummary
        DebugNumericSummaryV2 DumpTensor Print PrintV2 Timestamp
    """,
    "sends data to another device or process": """
        AllToAll CollectiveAllToAllV2 CollectiveAllToAllV3 CollectiveAssignGroupV2
        CollectiveBcastRecv CollectiveBcastRecvV2 CollectiveBcastSend CollectiveBcastSendV2
        CollectiveGather CollectiveGatherV2 CollectiveInitializeCommunicator CollectivePermute
        CopyToMesh CopyToMeshGrad DTensorAllGather DTensorAllScatter DTensorAllToAll
        DeleteRpcFutureResource DeleteSessionTensor GetSessionHandle GetSessionHandleV2
        GetSessionTensor InfeedDequeue InfeedDequeueTuple InfeedEnqueue
        InfeedEnqueuePrelinearizedBuffer InfeedEnqueueTuple NcclBroadcast OutfeedDequeue
        OutfeedDequeueTuple OutfeedDequeueTupleV2 OutfeedDequeueV2 OutfeedEnqueue
        OutfeedEnqueueTuple Prelinearize PrelinearizeTuple Recv RpcCall RpcCheckStatus RpcClient
        RpcGetValue RpcServer RpcServerRegister RpcServerStart Send XlaRecv XlaRecvFromHost
        XlaSend XlaSendToHost _CopyFromGpuToHost _CopyFromHostToGpu _HostRecv _HostSend
        _NcclBroadcastRecv _NcclBroadcastSend _Recv _Send _XlaRecvAtHost _XlaRecvAtHostV2
        _XlaSendFromHost _XlaSendFromHostV2
    """,
    "draws random integers, no float arithmetic": """
        NonDeterministicInts RandomIndexShuffle RandomShuffle RandomUniformInt RngReadAndSkip
        RngSkip StatefulUniformFullInt StatefulUniformInt StatelessRandomGetAlg
        StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg StatelessRandomUniformFullInt
        StatelessRandomUniformFullIntV2 StatelessRandomUniformInt StatelessRandomUniformIntV2
        StatelessShuffle
    """,
    "sets up an accelerator, or moves data for it": """
        CollateTPUEmbeddingMemory ComputeDedupDataSize ComputeDedupDataSizeV2
        ComputeDedupDataTupleMask ComputeDedupDataTupleMaskV2 ConfigureAndInitializeGlobalTPU
        ConfigureDistributedTPU ConfigureTPUEmbedding ConfigureTPUEmbeddingHost
        ConfigureTPUEmbeddingMemory ConnectTPUEmbeddingHosts ConvertToCooTensor
        ConvertToListOfSparseCoreCooTensors ConvertToSparseCoreCsrWrappedCooTensor
        DTensorSetGlobalTPUArray DynamicEnqueueTPUEmbeddingArbitraryTensorBatch
        DynamicEnqueueTPUEmbeddingRaggedTensorBatch EnqueueTPUEmbeddingArbitraryTensorBatch
        EnqueueTPUEmbeddingBatch EnqueueTPUEmbeddingIntegerBatch
        EnqueueTPUEmbeddingRaggedTensorBatch EnqueueTPUEmbeddingSparseBatch
        EnqueueTPUEmbeddingSparseTensorBatch ExecuteTPUEmbeddingPartitioner FinalizeTPUEmbedding
        FinalizeTPUEmbeddingV2 GetMinibatchSplitsWithPhysicalReplica
        GetMinibatchesInCsrWithPhysicalReplica GetStatsFromListOfSparseCoreCooTensors GetTpuTaskId
        GlobalIterId IsTPUEmbeddingInitialized LoadAllTPUEmbeddingParameters
        LoadTPUEmbeddingADAMParameters LoadTPUEmbeddingAdadeltaParameters
        LoadTPUEmbeddingAdagradMomentumParameters LoadTPUEmbeddingAdagradParameters
        LoadTPUEmbeddingCenteredRMSPropParameters LoadTPUEmbeddingFTRLParameters
        LoadTPUEmbeddingFrequencyEstimatorParameters LoadTPUEmbeddingMDLAdagradLightParameters
        LoadTPUEmbeddingMomentumParameters LoadTPUEmbeddingProximalAdagradParameters
        LoadTPUEmbeddingProximalYogiParameters LoadTPUEmbeddingRMSPropParameters
        LoadTPUEmbeddingStochasticGradientDescentParameters MergeDedupData
        RetrieveAllTPUEmbeddingParameters RetrieveTPUEmbeddingADAMParameters
        RetrieveTPUEmbeddingAdadeltaParameters RetrieveTPUEmbeddingAdagradMomentumParameters
        RetrieveTPUEmbeddingAdagradParameters RetrieveTPUEmbeddingCenteredRMSPropParameters
        RetrieveTPUEmbeddingFTRLParameters RetrieveTPUEmbeddingFrequencyEstimatorParameters
        RetrieveTPUEmbeddingMDLAdagradLightParameters RetrieveTPUEmbeddingMomentumParameters
        RetrieveTPUEmbeddingProximalAdagradParameters RetrieveTPUEmbeddingProximalYogiParameters
        RetrieveTPUEmbeddingRMSPropParameters
        RetrieveTPUEmbeddingStochasticGradientDescentParameters ShutdownDistributedTPU
        ShutdownTPUSystem SortListOfSparseCoreCooTensors SplitDedupData
        StoreMinibatchStatisticsInFdo TPUCompilationResult TPUCompile TPUCompileSucceededAssert
        TPUEmbeddingActivations TPUOrdinalSelector TPUPartitionedInput TPUPartitionedInputV2
        TPUPartitionedOutput TPUPartitionedOutputV2 TPUReplicateMetadata TPUReplicatedInput
        TPUReplicatedOutput TPUReshardVariables TPURoundRobin TpuHandleToProtoKey
        UpdateTaskIdAndGlobalCoreArray WorkerHeartbeat XlaRecvTPUEmbeddingDeduplicationData
        XlaRecvTPUEmbeddingDeduplicationDataV2 XlaSparseActivationsUnstack XlaSparseGradientsStack
        _ConfigureDistributedTPU _DisconnectHostFromDistributedTPUSystem
        _InitializeHostForDistributedTPU _SetGlobalTPUArray _ShutdownDistributedTPU
        _TPUCompileMlir _WaitForDistributedTPU _XlaCompileMlirPlaceholderProgramKey
    """,
}

for _reason, _names in OP_TYPES.items():
    declare_free(_names, because=_reason)

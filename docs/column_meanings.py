"""What the columns of tools mean, and by which clock their times are measured.

The columns themselves, their labels and units are those of the tools; ``columns_page.py`` puts both
together, and fails if a column has no meaning here. Tables behind the views and of SQL describe
their columns where they are declared.
"""

from __future__ import annotations

HOST, DEVICE, BOTH, ROW = "host", "device", "both", "of the row"

CATEGORIES = {
    "device_compute": ("time in which a device computed", DEVICE),
    "device_to_device": ("copies between devices, and devices that wait for others", DEVICE),
    "device_collectives": ("collective communication of devices, such as all-reduce", DEVICE),
    "host_compute": ("ops on threads of the host, and copies within its memory", HOST),
    "kernel_launch": ("the host prepared and launched work of devices", HOST),
    "infeed": ("waiting for input: by the host, its copies to devices, and devices for it", BOTH),
    "outfeed": ("copies from devices to the host", DEVICE),
    "compile": ("the host compiled", HOST),
    "other": ("the rest: the program's own code, and what has no name", HOST),
}
"""Parts of a step by the key of their category. A moment counts once: for the part that comes first
in what limits a step."""

COMMON = {
    "host": "host: the name of its file up to .xplane.pb",
    "step": "name of the step",
    "stepnum": "name of the step",
    "core": "number of the TPU core in the run; empty for a host",
    "rank": "place in the order of the table",
    "occurrences": "how often it ran",
    "total_time": "time of all runs, with what ran inside them",
    "avg_time": "the same for one run on average",
    "total_self_time": "time of all runs without what ran inside them",
    "avg_self_time": "the same for one run on average",
    "measured_flop_rate": "float operations per time, at the device's nominal clock",
    "model_flop_rate": "float operations of the model, per time",
    "measured_memory_bw": "bytes read and written in all memories, per time",
    "hbm_bw": "bytes read and written in the device's main memory, per time",
    "cmem_read_bw": "bytes read from a TPU's CMEM, per time",
    "cmem_write_bw": "bytes written to a TPU's CMEM, per time",
    "vmem_read_bw": "bytes read from a TPU's VMEM, per time",
    "vmem_write_bw": "bytes written to a TPU's VMEM, or to a GPU's shared memory and L1, per time",
    "operational_intensity": "float operations per byte of all memories",
    "bound_by": "the resource of which it uses the largest part; Unknown without costs or peaks",
    "dma_stall_percent": "waiting for copies of the device; no capture records it: empty",
    "source_info": "file and line of the program, if the compiler kept them",
    "tooltip": "the other cells of the row as a text, for charts",
    "total_us": "how long the step took",
    "stepTimeMs": "from the start of the step to that of the next one",
    "betweenMs": "how much of that lies between the end of the step and the start of the next one",
    "opcode": "what the instruction does, in the compiler's words",
    "shape": "element type and dimensions of the result",
    "tf_op": "name of the framework's op that it was made for",
    "source": "file and line of the program, if the compiler kept them",
    "instruction": "name of the instruction in the compiled program",
}
"""Columns that mean the same in all tables that have them, unless the table says otherwise."""

_TPU_STEPS = {
    "tcComputeTimeMs": "TPU: time in which TensorCores computed",
    "scv0ComputeTimeMs": "TPU: time in which SparseCores of the first version computed",
    "scv0InfeedTimeMs": "TPU: time in which those waited for input",
    "scComputeTimeMs": "TPU: time in which the busiest SparseCore was not idle",
    "tcInfeedTimeMs": "TPU: time in which TensorCores waited for input",
    "tcOutfeedTimeMs": "TPU: time of output of TensorCores",
    "tcIdleTimeMs": "TPU: time in which TensorCores did nothing",
    "hostTransferTimeMs": "TPU: transfers between host and TensorCores",
    "allReduceComputeTimeMs": "TPU: all-reduce, without waiting for other cores",
    "allReduceSyncTimeMs": "TPU: waiting for other cores in all-reduce",
    "infeedPercentAverage": "TPU: part of the step that cores waited for input, on average",
    "infeedPercentMin": "TPU: the same of the core that waited the least",
    "infeedPercentMax": "TPU: the same of the core that waited the most",
}

_STATS = {
    "host_or_device": "where the op ran: Host or Device",
    "type": "op type",
    "operation": "name of the op; IDLE is the time without any",
    "program": "compiled program that the op is in",
    "device_total_self_time_percent": "part of the self time of all rows of devices",
    "device_cumulative_total_self_time_percent": "the same, of this row and those above it",
    "host_total_self_time_percent": "part of the self time of all rows of hosts",
    "Host_cumulative_total_self_time_percent": "the same, of this row and those above it",
    "measured_flop_rate": "float operations per time; empty if the cost is unknown",
    "gpu_tensorcore_utilization": "part of its kernels' time in kernels that use tensor cores",
    "eager": "Eager if one of its runs was outside a compiled function, else Function",
}

_ROOFLINE = {
    "step": "Total is the capture, Average the average step; otherwise a step",
    "category": "kind of instruction",
    "operation": "name of the instruction; Program is all of them together",
    "total_time": "time of all runs in a step, with what ran inside them",
    "total_self_time": "time of all runs in a step, without what ran inside them",
    "total_self_time_percent": "self time as part of the program's time",
    "cumulative_total_self_time_percent": "the same, of this row and those above it",
    "hbm_operational_intensity": "float operations per byte of the main memory",
    "cmem_read_operational_intensity": "float operations per byte read from CMEM",
    "cmem_write_operational_intensity": "float operations per byte written to CMEM",
    "vmem_read_operational_intensity": "float operations per byte read from VMEM",
    "vmem_write_operational_intensity": "float operations per byte written to VMEM, or to a GPU's "
    "shared memory and L1",
    "bottleneck_operational_intensity": "float operations per byte of the memory that limits it",
    "total_time_per_core": "time in a step, divided by the number of cores",
    "total_time_in_percentage": "time as part of the program's time",
    "optimal_flop_rate": "the rate at which it would touch the roof",
    "roofline_efficiency": "how much of the roof above it the op reaches",
    "compute_efficiency": "its part of the float operations that the device can do",
    "max_mem_bw_utilization": "the largest part of what some memory can move",
    "include_infeed_outfeed": "whether input and output of the device count",
    "hlo_module_id": "number of the compiled program",
}

TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "overview/performance": (
        BOTH,
        {
            "category": "what the time of steps goes to; the first row is all of it",
            "average_ms": "average over the steps that are not unusual",
            "deviation_ms": "standard deviation over these steps",
            "share": "part of the time of these steps",
        },
    ),
    "overview/top_ops": (
        DEVICE,
        {
            "selfTimePercent": "self time as part of that of all ops of devices",
            "cumulativeTimePercent": "the same, of this row and those above it",
            "category": "op type",
            "operation": "name of the op",
            "flopRate": "float operations per time; empty if the cost is unknown",
            "tcEligibility": "one of its kernels could use tensor cores",
            "tcUtilization": "one of its kernels used tensor cores",
        },
    ),
    "overview/environment": (
        "",
        {"what": "a property of the run", "value": "its value"},
    ),
    "overview/steps": (BOTH, _TPU_STEPS),
    "overview/tf_functions": (
        HOST,
        {
            "function": "name of the tf.function",
            "calls": "calls in the capture",
            "traced_calls": "calls that traced the function anew",
            "n_traces": "how often it was traced in all, as the last call tells",
            "self_us": "time of its calls without calls inside them",
            "expensive_share": "part of this time in calls that traced, or ran eagerly",
            "compiler": "what compiled it: xla, other or mixed; empty if unknown",
        },
    ),
    "overview/latency": (
        BOTH,
        {
            "percentile": "which request: so many of a hundred took at most as long; or the mean",
            "hostTimeMs": "what is left of it for the host",
            "deviceTimeMs": "what of it devices computed",
            "communicationTimeMs": "what of it was copies to devices and from them alone",
            "totalTimeMs": "how long the request took",
        },
    ),
    "input-pipeline/steps": (BOTH, _TPU_STEPS),
    "input-pipeline/input_ops": (
        HOST,
        {
            "opName": "name of the input op",
            "count": "how often it ran",
            "timeInMs": "time of all runs, with what ran inside them",
            "timeInPercent": "the same as part of the self time of all input ops",
            "selfTimeInMs": "time of all runs without what ran inside them",
            "selfTimeInPercent": "the same as part of that of all input ops",
            "category": "kind of work: reading, preprocessing, enqueuing …",
        },
    ),
    "input-pipeline/waiting_cores": (
        DEVICE,
        {
            "core": "TPU core that waited for input the longest: host:number",
            "infeed_ms": "how long it waited",
        },
    ),
    "tf-data/bottlenecks": (
        HOST,
        {
            "input_pipeline": "name of the pipeline",
            "max_latency": "the longest call of the pipeline",
            "bottleneck": "iterator that takes the most of the slow calls",
            "suggestion": "what helps against it",
        },
    ),
    "tf-data/pipelines": (
        HOST,
        {
            "input_pipeline": "name of the pipeline",
            "min": "the shortest call",
            "mean": "calls on average",
            "max": "the longest call",
            "num_calls": "calls in the capture",
            "num_slow_calls": "calls that took longer than 50 µs",
        },
    ),
    "tf-data/iterators": (
        HOST,
        {
            "input_pipeline": "name of the pipeline",
            "iterator": "type of the iterator",
            "self_us": "its time in the slowest call, without that of iterators it calls; n/a if "
            "it ran at other times only",
            "total_us": "its time in the slowest call",
            "calls": "how often it was called in there",
            "role": "bottleneck, blocking if the call waited for it, not in this call, or empty",
            "long_name": "the iterator with all that encloses it",
        },
    ),
    "op-stats/ops": (ROW, _STATS),
    "op-stats/ops_with_idle": (ROW, _STATS),
    "kernel-stats/kernels": (
        DEVICE,
        {
            "kernel_name": "name of the kernel",
            "registers_per_thread": "registers of a thread",
            "shmem_bytes": "shared memory of a block, static and dynamic",
            "block_dim": "threads of a block: x,y,z",
            "grid_dim": "blocks: x,y,z",
            "occupancy_pct": "part of the multiprocessor's warps that its resources permit",
            "is_op_tensor_core_eligible": "tensor cores could do its op's work",
            "is_kernel_using_tensor_core": "it uses tensor cores, by its name",
            "op_name": "op that launched it; empty if unknown",
            "total_duration_us": "time of all runs",
            "avg_duration_us": "time of a run on average",
            "min_duration_us": "the shortest run",
            "max_duration_us": "the longest run",
        },
    ),
    "memory/summary": (
        HOST,
        {
            "allocator": "name of the allocator",
            "allocations": "allocations in the capture",
            "deallocations": "deallocations in the capture",
            "capacity_bytes": "stack, heap and free memory together",
            "peak_lifetime_bytes": "most in use since the allocator was made, by its statistics",
            "peak_bytes": "most in use in the capture: stack and heap",
            "peak_time_ms": "when that was, since the begin of the host's events",
            "stack_bytes": "reserved memory then",
            "heap_bytes": "memory in use then",
            "free_bytes": "free memory then",
            "fragmentation": "part of the free memory outside its largest piece then",
        },
    ),
    "memory/peak": (
        "",
        {
            "allocator": "name of the allocator",
            "op": "op that allocated it",
            "allocation_bytes": "what the allocator gave, of one",
            "requested_bytes": "the request for one",
            "occurrences": "how many equal ones were in use",
            "region": "what the program says the memory is for: output, temp, persist …",
            "dtype": "element type",
            "shape": "dimensions of the tensor, if they were recorded",
        },
    ),
    "pod/workers": (BOTH, {"bottleneck": "the part that took the longest"}),
    "pod/cores": (
        DEVICE,
        {
            "high_flops_compute_us": "matrix products, convolutions and what they are fused with",
            "low_flops_compute_us": "the rest of the step: other computation",
            "infeed_us": "waiting for input",
            "outfeed_us": "output",
            "all_reduce_compute_us": "all-reduce, without waiting for other cores",
            "all_reduce_sync_us": "waiting for other cores in all-reduce",
            "send_us": "sending to other cores",
            "receive_us": "receiving from other cores",
            "sparse_infeed_transform_us": "SparseCore: transforming input",
            "sparse_infeed_wait_us": "SparseCore: waiting for input",
            "sparse_outfeed_us": "SparseCore: output",
            "idle_us": "nothing ran",
        },
    ),
    "pod/channels": (
        DEVICE,
        {
            "channelId": "number of the channel",
            "srcCoreId": "core that sends",
            "dstCoreId": "core that receives",
            "dataSize": "bytes sent",
            "durationUs": "from the begin of sending to the end of receiving, of one transfer",
            "bandwidth": "bytes per time",
            "sendDelayUs": "how long the receiver had waited before sending began",
            "hloNames": "instructions that send and receive",
        },
    ),
    "pod/all_reduces": (
        DEVICE,
        {
            "name": "name of the instruction",
            "dataSize": "bytes of its data",
            "durationUs": "how long it took",
            "startUs": "begin, since the first of these ops in the capture",
            "endUs": "end, since then",
            "replicaGroups": "which replicas take part together",
            "description": "text of the instruction",
        },
    ),
    "pod/topology": (
        "",
        {
            "device_ordinal": "number of the device on its host",
            "chip_id": "number of the chip",
            "node_id": "number of the core on its chip",
            "replica": "replica of the program that it runs, if known",
            "kind": "TensorCore or SparseCore",
        },
    ),
    "stragglers/hosts": (
        BOTH,
        {
            "works_us": "mean time that it worked in a step: without that in which all its devices "
            "were in collectives and computed nothing",
            "excess_us": "by how much that exceeds the median of the other hosts",
            "excess_error_us": "how far that may be off by noise; empty with too few steps",
            "cause": "in what it exceeds the median of the other hosts most, if it works longer",
            "step_us": "mean duration of its steps",
            "collectives_us": "mean time in collectives, on average of its devices",
            "exposed_us": "the same without what a device computed meanwhile",
            "waits_us": "how much longer collectives take it than the host that comes last",
            "last_count": "to how many collectives it comes last",
            "clock_us": "by how much its clock is ahead of that of the first host; empty if that "
            "is unknown",
            "clock_error_us": "how far that may be off",
        },
    ),
    "stragglers/steps": (
        BOTH,
        {
            "least_us": "time that the fastest host worked",
            "median_us": "median of the hosts",
            "most_us": "time that the slowest host worked",
            "slowest": "which that is",
            "gain_us": "by how much it exceeds the median of the others",
            "step_us": "the longest duration on any host",
        },
    ),
    "stragglers/spent": (
        BOTH,
        {
            "input_us": "waiting for input",
            "copies_us": "copies between hosts and devices, and within them",
            "device_compute_us": "a device computed",
            "host_compute_us": "ops on threads of the host",
            "kernel_launch_us": "the host launched work of devices",
            "compile_us": "the host compiled",
            "host_code_us": "the program's own code",
            "runtime_us": "the framework's runtime, while no op ran",
            "unexplained_us": "nothing that was recorded",
            "collectives_us": "collectives, while nothing else of this went on",
        },
    ),
    "stragglers/work": (
        BOTH,
        {
            "step_us": "how long the step took",
            "works_us": "time that the host worked, and did not only wait in collectives",
            "collectives_us": "time in collectives, on average of its devices",
            "exposed_us": "the same without what a device computed meanwhile",
            "waits_us": "how much longer collectives took it than the host that came last",
        },
    ),
    "stragglers/collectives": (
        BOTH,
        {
            "name": "instruction, kernel or type of op",
            "count": "how many the hosts ran together",
            "least_us": "time that it takes the host that comes last, on average",
            "waits_us": "how much longer it takes another host, on average",
            "last": "host that comes last most often",
            "last_count": "how often it does",
        },
    ),
    "op-profile/ops": (
        DEVICE,
        {
            "level": "depth in the tree",
            "name": "program, category or instruction",
            "time_us": "time of all runs of what is below",
            "time_share": "part of the time of all ops",
            "flops_utilization": "float operations, as part of what the device can do in the time",
            "hbm_utilization": "bytes of the main memory, as part of what it can move in the time",
            "wasted_share": "part of the time of all ops in which neither was used",
            "category": "kind of instruction",
            "provenance": "name of the framework's op that it was made for",
        },
    ),
    "hlo-stats/instructions": (
        DEVICE,
        {
            "program_id": "number of the compiled program",
            "category": "kind of instruction",
            "hlo_op_name": "name of the instruction",
            "hlo_op_expression": "text of the instruction",
            "tf_op_name": "name of the framework's op that it was made for",
            "total_self_time_percent": "part of the self time of all instructions",
            "cumulative_total_self_time_percent": "the same, of this row and those above it",
            "normalized_flop_rate": "float operations per time, at the device's nominal clock",
            "hlo_rematerialization": "computed again to save memory: Yes or No",
            "outside_compilation": "runs on the host within a program of a TPU: Yes or No",
            "autotuned": "No: the column of the reference, which captures do not tell",
            "core_type": "TensorCore on a TPU",
            "parent_op_name": "empty: the column of the reference, which captures do not tell",
            "vdd_energy": "empty: the column of the reference, which captures do not tell",
        },
    ),
    "roofline/ops": (DEVICE, _ROOFLINE),
    "roofline/programs": (DEVICE, _ROOFLINE),
    "memory-viewer/programs": (
        BOTH,
        {
            "program_id": "number of the compiled program",
            "module": "its name",
            "instructions": "how many it has",
            "total_bytes": "memory that it reserves",
            "peak_bytes": "most that is in use at a time, by the compiler's plan",
            "self_us": "self time of its instructions in the capture, 0 if it did not run; n/a if "
            "the capture does not tell which programs ran",
        },
    ),
    "memory-viewer/summary": (
        "",
        {
            "kind": "parameter, output, constant, temporary or thread-local",
            "allocations": "pieces of memory of this kind",
            "size_bytes": "their size",
            "peak_bytes": "what of it is in use at the peak",
        },
    ),
    "memory-viewer/buffers": (
        "",
        {
            "instruction": "instruction, and which part of its result",
            "kind": "parameter, output, constant, temporary or thread-local",
            "size_bytes": "bytes in memory",
            "unpadded_bytes": "bytes of its elements alone",
            "allocation": "number of the memory that it lies in",
            "start": "place in the plan at which it comes; empty if it is always there",
            "end": "place in the plan at which it goes",
        },
    ),
    "graph-viewer/nodes": (
        "",
        {
            "category": "kind of instruction",
            "distance": "how many edges away from the chosen one",
            "computation": "computation that it is in",
            "flops": "float operations of one run; empty if unknown",
            "bytes_accessed": "bytes that one run reads and writes",
            "expression": "text of the instruction",
        },
    ),
    "graph-viewer/edges": (
        "",
        {
            "tail": "instruction that makes the value",
            "head": "instruction that reads it",
            "kind": "data, control (nothing but order), or call of a computation",
            "shape": "element type and dimensions of the value",
            "size_bytes": "its size",
        },
    ),
    "monitor/monitor": (
        BOTH,
        {
            "device_type": "what the devices are",
            "cores": "how many there are",
            "matrix_unit_percent": "float operations as part of the peak rate, or a TPU's counter",
            "idle_percent": "part of the time in which devices did nothing",
            "steps": "steps that count",
            "step_ms_average": "time of a step of the worker that the others wait for, on average",
            "step_ms_minimum": "the same of the shortest step",
            "step_ms_maximum": "the same of the longest step",
            "infeed_percent_average": "waiting for input as part of all steps together",
            "infeed_percent_minimum": "the same of the step that waited the least",
            "infeed_percent_maximum": "the same of the step that waited the most",
        },
    ),
    "trace/threads": (
        ROW,
        {
            "process": "process or device",
            "pid": "its number in the trace",
            "thread": "thread, stream or derived line",
            "tid": "its number in the trace",
            "events": "events on it",
            "busy_us": "time in which at least one of them ran",
            "first_us": "begin of the first, since the begin of the run",
            "last_us": "end of the last, since the begin of the run",
        },
    ),
}
"""The clock of a table's times, and what its own columns mean, by tool and table."""

CLOCKS = {
    "hostTimeMs": HOST,
    "deviceTimeMs": DEVICE,
    "communicationTimeMs": DEVICE,
    "idle_percent": DEVICE,
    "matrix_unit_percent": DEVICE,
    **dict.fromkeys(_TPU_STEPS, DEVICE),
}
"""Columns whose clock is not that of their table."""

NO_CLOCK = {"fragmentation", "occupancy_pct", "vdd_energy"}
"""Shares of something else than time."""

VIEWS = {
    "name": ("", "name of the node: an op, a scope, an op type or a line of code", ""),
    "depth": ("", "depth in the tree; the root has 0", ""),
    "run_count": ("runs", "executions per step that have a time", ""),
    "exec_micros": ("µs", "accelerator and CPU time per step", BOTH),
    "accelerator_exec_micros": ("µs", "time on accelerators per step", DEVICE),
    "cpu_exec_micros": ("µs", "time on CPUs per step, launching work included", HOST),
    "requested_bytes": ("bytes", "memory requested", ""),
    "peak_bytes": ("bytes", "sum of the allocators' peaks", ""),
    "residual_bytes": ("bytes", "memory still held when it ended", ""),
    "output_bytes": ("bytes", "memory of the outputs", ""),
    "parameters": ("elements", "size of trainable and other variables", ""),
    "float_ops": ("operations", "float operations of its runs", ""),
    "definition_count": ("ops", "ops of the graph that it is made of; scope and graph view", ""),
}
"""Unit, meaning and clock of the columns of views; those with ``total_`` add what is below."""

OF_PROFILES = {
    "exec_micros": BOTH, "accelerator_micros": DEVICE, "cpu_micros": HOST, "op_micros": BOTH,
}  # fmt: skip
"""Clocks of the tables behind the views; all their other times are the row's own."""

COMPARED = {
    "what": "the step, or the category of its time",
    "part": "ops of a type in a scope, or time outside of ops",
    "op": "name of the op, in the second run if both have it",
    "name": "name of the row in the view",
    "type": "op type",
    "depth": "depth in the tree; rows are sorted by their change",
    "before_ms": "mean of the steps of the first run",
    "after_ms": "the same of the second run",
    "difference_ms": "second minus first",
    "relative": "the difference as a part of the first",
    "points": "the difference as a part of the first run's step",
    "verdict": "longer, shorter, within noise, cannot tell, appeared or gone",
    "low_ms": "the difference is at least this; empty if steps are too few to tell",
    "high_ms": "it is at most this",
    "cause": "what else differs: type, element type, output shape, runs, device",
    "op_before": "name of the op in the first run, where it is another",
    "n_ops": "how many ops it is made of",
}
"""Columns of what two runs differ by."""

WHATIF = {
    "step": "name of the step; mean and standard deviation first",
    "before_ms": "how long it took",
    "after_ms": "how long it would take",
    "difference_ms": "after minus before",
    "change": "the difference as a part of before",
    "kind": "what this part of the critical path is: input, copies, host ops, gaps ...",
    "op": "name and type of the op, or name of the event",
    "time_ms": "time on the critical path, in a step on average",
    "share": "the same as a part of the critical path",
}
"""Columns of a run that is gone through again."""

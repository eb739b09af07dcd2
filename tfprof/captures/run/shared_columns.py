"""Columns that mean the same in the tables of several tools; labels of some tools differ."""

from __future__ import annotations

from dataclasses import replace

from tfprof.captures.run.columns import amount, count, text

HOST = text("host", "Host", "host: the name of its file up to .xplane.pb")
STEP = text("step", "Step", "name of the step")
CORE = count("core", "Core", "number of the TPU core in the run; empty for a host")
RANK = count("rank", "Rank", "place in the order of the table")
OCCURRENCES = count("occurrences", "Occurrences", "how often it ran")
TOOLTIP = replace(
    text("tooltip", "tooltip", "the other cells of the row as a text, for charts"), role="tooltip"
)
STEP_TIME_US = amount("total_us", "Step time", "us", "how long the step took")

TOTAL_TIME = amount(
    "total_time", "Total time (us)", "us", "time of all runs, with what ran inside them"
)
AVG_TIME = amount("avg_time", "Avg. time (us)", "us", "the same for one run on average")
TOTAL_SELF_TIME = amount(
    "total_self_time", "Total self time (us)", "us", "time of all runs without what ran inside them"
)
AVG_SELF_TIME = replace(AVG_TIME, id="avg_self_time", label="Avg. self time (us)")

_GIB = "gib_per_s"
MODEL_FLOP_RATE = amount(
    "model_flop_rate", "Model FLOP Rate (GFLOP/s)", "gflops_per_s",
    "float operations of the model, per time",
)  # fmt: skip
MEMORY_BW = amount(
    "measured_memory_bw", "Memory BW (GiB/s)", _GIB, "bytes read and written in all memories, "
    "per time",
)  # fmt: skip
HBM_BW = amount(
    "hbm_bw", "HBM BW (GiB/s)", _GIB, "bytes read and written in the device's main memory, per time"
)
CMEM_READ_BW = amount(
    "cmem_read_bw", "CMEM Read BW (GiB/s)", _GIB, "bytes read from a TPU's CMEM, per time"
)
CMEM_WRITE_BW = amount(
    "cmem_write_bw", "CMEM Write BW (GiB/s)", _GIB, "bytes written to a TPU's CMEM, per time"
)
INTENSITY = amount(
    "operational_intensity", "Operational Intensity (FLOP/Byte)", "flops_per_byte",
    "float operations per byte of all memories",
)  # fmt: skip
BOUND_BY = text(
    "bound_by", "Bound by",
    "the resource of which it uses the largest part; Unknown without costs or peaks",
)  # fmt: skip
SOURCE_INFO = text(
    "source_info", "Source Info", "file and line of the program, if the compiler kept them"
)

FOUND_BY = text(
    "op_found_by", "Op found by",
    "how the op of its kernels was found, the surest way first: by their annotation, the thread "
    "that launched them, the node of a CUDA graph, their name, their order in the program, or only "
    "by the launch; none for kernels without an op",
)  # fmt: skip

INSTRUCTION_KIND = text("category", "Category", "kind of instruction")
OPCODE = text("opcode", "Operation", "what the instruction does, in the compiler's words")
SHAPE = text("shape", "Shape", "element type and dimensions of the result")
TF_OP = text("tf_op", "Framework op", "name of the framework's op that it was made for")
SOURCE = replace(SOURCE_INFO, id="source", label="Source")

"""Seeded random sessions: graphs, run metadata, op logs and view queries.

Inputs that crash the original are left out here, they have tests of their own: no node, scope or
op type is named ``_TFProfRoot``, every trace has frames and known ids, some traced node is not a
gradient, results nest less than protobuf's parser allows, and the code view never has a
depth below 1 or a trim pattern that could match its root.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfprof.core.wire import messages as pb

from .engine import Item

VIEWS = ("scope", "graph", "op", "code")
ORDERS = (
    "name", "bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros",
    "accelerator_micros", "cpu_micros", "params", "float_ops", "occurrence",
)  # fmt: skip
ATTRIBUTES = (
    "bytes", "micros", "params", "float_ops", "tensor_value", "device", "op_types", "occurrence",
    "input_shapes", "accelerator_micros", "cpu_micros", "peak_bytes", "residual_bytes",
    "output_bytes",
)  # fmt: skip
MINIMA = (
    "min_bytes", "min_peak_bytes", "min_residual_bytes", "min_output_bytes", "min_micros",
    "min_accelerator_micros", "min_cpu_micros", "min_params", "min_float_ops", "min_occurrence",
)  # fmt: skip
NAME_LISTS = (
    "start_name_regexes", "trim_name_regexes", "show_name_regexes", "hide_name_regexes",
)  # fmt: skip

DICT_DEFAULTS: Mapping[str, Any] = {
    "max_depth": 10,
    **dict.fromkeys(MINIMA, 0),
    "step": -1,
    "order_by": "name",
    "account_type_regexes": [],
    **{key: [] for key in NAME_LISTS},
    "account_displayed_op_only": False,
    "select": [],
    "output": "stdout",
    "dump_to_file": "",
}
"""What TensorFlow's Python layer takes for a key that an options dict leaves out."""

_COMPONENTS = (
    "a", "b", "x", "y", "A", "conv", "layer1", "layer2", "tower_0", "Mul", "weights", "w.1",
    "b-c", "größe", "層", "two words", "_x",
)  # fmt: skip
_OP_TYPES = (
    "MatMul", "Conv2D", "VariableV2", "Placeholder", "Const", "Identity", "Add", "NoOp", "Mul",
    "Relu", "Switch", "Merge", "matmul", "FusedBatchNormV3", "VarHandleOp", "Öp",
    "SparseSoftmaxCrossEntropyWithLogits", "Two Words",
)  # fmt: skip
_CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
_GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
_HOME_DEVICES = (_CPU, _CPU, _GPU, _GPU, "/cpu:0", "/device:CPU:12", "/gpu:1", _GPU.lower())
_OTHER_DEVICES = (
    "/job:localhost/replica:0/task:0/device:GPU:0/stream:all", "/device:GPU:0:stream:all",
    "stream:all", "/device:GPU:0/stream:16", "/device:GPU:0/memcpy", "/gpu:0/stream:all",
    "cpu:0", "/host:CPU", "/host:CPU:0", "/device:TPU:0", "/device:XLA_CPU:0", "",
    "/device:GPU:0 (0)", "/DEVICE:gpu:1", "/device:CPU:٣",
)  # fmt: skip
_STREAM = "/job:localhost/replica:0/task:0/device:GPU:0/stream:all"
_EXTRA_TYPES = ("_trainable_variables", "_checkpoint_variables", "mine", "MatMul", "größe", "")
_FILES = ("train.py", "/src/model/net.py", "src/model/net.py", "lib/", "ü.py", "", "a b/c.py")
_FUNCTIONS = (
    "main", "build", "<lambda>", "a_function_19_chars", "a_function_of_20char",
    "a_rather_long_function_name", "größe_der_eingabe_x", "für", "",
)  # fmt: skip
_EXOTIC_PATTERNS = (
    "(", "*", "[a", "a{2000}", "(?=a).*", "(a)\\1", "(?>a).*", "a++", "(?#c)a.*", "\\Z",
    "\\pL+.*", "[[:alpha:]].*", "\\Qlayer1/\\E.*", "(?i)MATMUL|layer.*", ".*\\z", "(?s).*",
    "gr\\x{f6}.*", "a{,2}", "(?P<n>a.*)", "\\w+", "\\w+(/\\w+)*", ".*\\d", ".*\\b(a|b)", "^.*$",
    "(?U).*", "", ".+", ".*?", "[^/]*", "\\pN*.*", "[[:^digit:]]*", "\\C*", ".", "(?m)^a.*",
)  # fmt: skip


@dataclass(frozen=True)
class AddStep:
    """Add one step's run metadata, serialized."""

    step: int
    run_meta: bytes


@dataclass(frozen=True)
class Query:
    """Ask for one view.

    Attributes:
        view: ``scope``, ``graph``, ``op`` or ``code``.
        options: As the Python API takes them; a key may be missing.
        run_meta: In a one-shot session the run metadata of this call, else None.
    """

    view: str
    options: dict[str, Any]
    run_meta: bytes | None = None

    def options_bytes(self) -> bytes:
        """The OptionsProto that TensorFlow's Python layer would send."""
        return options_proto(self.options).SerializeToString(deterministic=True)


@dataclass(frozen=True)
class Session:
    """The life of one profiler; ``one_shot`` asks every query on an engine of its own."""

    name: str
    graph: bytes
    op_log: bytes
    actions: Sequence[AddStep | Query] = field(default_factory=tuple)
    one_shot: bool = False

    @property
    def queries(self) -> list[Query]:
        """The queries in order."""
        return [action for action in self.actions if isinstance(action, Query)]

    def script(self) -> list[Item]:
        """The same session for TensorFlow's engine; the first item has no action."""
        items: list[Item] = [("new", self.graph, self.op_log)]
        for action in self.actions:
            if isinstance(action, AddStep):
                items.append(("add_step", action.step, self.graph, action.run_meta, b""))
            elif self.one_shot:
                items.append(
                    ("print_model_analysis", self.graph, action.run_meta or b"", self.op_log,
                     action.view, action.options_bytes())
                )  # fmt: skip
            else:
                items.append(("profile", action.view, action.options_bytes()))
        return items


def options_proto(options: Mapping[str, Any]) -> Any:
    """An options dict as OptionsProto, missing keys filled as TensorFlow's Python layer does."""
    return pb.OptionsProto(**{**DICT_DEFAULTS, **options})


def random_session(seed: int) -> Session:
    """The session of this seed: one graph, some steps, and a handful of queries."""
    return _Maker(random.Random(seed)).session(f"seed {seed}")


class _Maker:
    """Draws one session; what was drawn so far shapes what follows."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names: list[str] = []
        self.run_time_names: list[str] = []
        self.homes: dict[str, str] = {}
        self.traced_functions: list[str] = []
        self.added_steps: list[int] = []
        self.has_gpu = rng.random() < 0.5
        self.liveliness = 1.0

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def unusual(self, probability: float) -> bool:
        """Whether to leave the neutral value of an option; some queries are livelier."""
        return self.chance(probability * self.liveliness)

    def session(self, name: str) -> Session:
        graph, op_log = self.graph(), self.op_log()
        one_shot = self.chance(0.15)
        actions: list[AddStep | Query] = []
        if one_shot:
            for _ in range(self.rng.randint(2, 4)):
                self.added_steps = []
                run_meta = self.run_meta() if self.chance(0.8) else None
                if run_meta is not None and pb.RunMetadata.FromString(run_meta).HasField(
                    "step_stats"
                ):
                    self.added_steps = [0]
                actions.append(Query(*self.query(), run_meta))
        else:
            for _ in range(self.rng.choice((0, 1, 1, 1, 2, 2, 2, 3, 3))):
                actions.append(self.step())
                if self.chance(0.3):
                    actions.append(Query(*self.query()))
            actions += [Query(*self.query()) for _ in range(self.rng.randint(3, 5))]
        return Session(name, graph, op_log, tuple(actions), one_shot)

    # Graph

    def node_name(self) -> str:
        rng = self.rng
        if self.names and self.chance(0.15):
            source = rng.choice(self.names)
            return rng.choice(
                (
                    f"gradients/{source}_grad/{rng.choice(_COMPONENTS)}",
                    f"gradients/{source}_grad/{rng.choice(_COMPONENTS)}",
                    f"train/gradients/{source}_grad/{rng.choice(_COMPONENTS)}",
                    f"_grad/gradients/{source}",
                    f"gradients/{rng.choice(_COMPONENTS)}",
                    "gradients/_grad/x",
                    "gradients/missing_grad/x",
                )
            )
        if self.names and self.chance(0.45):
            parts = rng.choice(self.names).split("/")[: rng.randint(1, 4)]
            parts.append(rng.choice(_COMPONENTS) + rng.choice(("", "", "_1", "_2")))
        else:
            parts = [rng.choice(_COMPONENTS) for _ in range(rng.choice((1, 1, 2, 2, 3, 5)))]
        name = "/".join(parts)
        if self.chance(0.06):
            name = rng.choice(("/{}", "{}/", "{}//x", "//{}", "{}\nz", "{}|{{}}", "%s{}"))
            name = name.format("/".join(parts))
        return name

    def shape(self) -> Any:
        rng = self.rng
        kind = rng.random()
        if kind < 0.12:
            return pb.TensorShapeProto(unknown_rank=True)
        if kind < 0.24:
            return pb.TensorShapeProto()
        sizes: Sequence[int] = (1, 2, 3, 7, 10, 64, 128)
        if kind < 0.40:
            sizes = (-1, -1, 5, 32, 0, 1, -3)
        elif kind < 0.46:
            sizes = (2**40, 2**31, 2**62, 3)
        shape = pb.TensorShapeProto()
        for _ in range(rng.randint(1, 4)):
            shape.dim.add().size = rng.choice(sizes)
        if self.chance(0.02):
            shape.unknown_rank = True
        return shape

    def input_text(self) -> str:
        rng = self.rng
        source = rng.choice(self.names)
        if self.chance(0.05):
            source = rng.choice(("missing", "a", "", "x/y"))
        pattern = rng.choice(("{}", "{}", "{}", "{}:0", "{}:1", "{}:1", "^{}", "^{}"))
        if self.chance(0.03):
            pattern = rng.choice(("^^{}", "{}:x:1", "^{}:1", ":{}", "{}:"))
        return pattern.format(source)

    def attributes(self, node: Any) -> None:
        rng = self.rng
        if node.op in ("VariableV2", "Placeholder", "VarHandleOp") or self.chance(0.15):
            kind = rng.random()
            if kind < 0.9:
                node.attr["shape"].shape.CopyFrom(self.shape())
            elif kind < 0.94:
                node.attr["shape"].list.shape.add().CopyFrom(self.shape())
            elif kind < 0.97:
                node.attr["shape"].i = 7
            else:
                node.attr["shape"].SetInParent()
        if self.chance(0.7):
            outputs = node.attr["_output_shapes"]
            if self.chance(0.95):
                outputs.list.SetInParent()
                for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
                    outputs.list.shape.add().CopyFrom(self.shape())
            else:
                outputs.shape.CopyFrom(self.shape())
        if self.chance(0.3):
            node.attr["T"].type = 1
        if self.chance(0.1):
            node.attr["note"].s = b"\xff\x00"

    def graph(self) -> bytes:
        rng = self.rng
        graph = pb.GraphDef()
        graph.versions.producer = 1
        size = rng.choice((rng.randint(0, 6), rng.randint(8, 20), rng.randint(10, 30),
                           rng.randint(10, 30), rng.randint(30, 60)))  # fmt: skip
        style = rng.choice(("chain", "tree", "dag", "dag", "wild"))
        for _ in range(size):
            self.names.append(self.node_name())
        for position, name in enumerate(self.names):
            node = graph.node.add(name=name, op=rng.choice(_OP_TYPES))
            if self.chance(0.02):
                node.op = ""
            earlier = self.names[:position]
            if style == "chain" and earlier and self.chance(0.9):
                node.input.append(earlier[-1])
            elif style == "tree" and earlier:
                node.input.append(rng.choice(earlier))
            elif style == "dag" and earlier:
                node.input.extend(rng.choice(earlier) for _ in range(rng.choice((0, 1, 2, 2, 3))))
            if style == "wild" or self.chance(0.2):
                node.input.extend(self.input_text() for _ in range(rng.choice((0, 1, 1, 2))))
            self.attributes(node)
            node.device = rng.choice(("", _CPU, "/gpu:0"))
        if self.names and self.chance(0.2):
            node = graph.node.add(name=rng.choice(self.names), op=rng.choice(_OP_TYPES))
            node.input.append(self.input_text())
            node.attr["shape"].shape.CopyFrom(self.shape())
        if self.chance(0.05):
            function = graph.library.function.add()
            function.node_def.add(name="inside", op="MatMul")
        return graph.SerializeToString(deterministic=True)

    # Op log

    def op_log(self) -> bytes:
        rng = self.rng
        if self.chance(0.07):
            return b""
        log = pb.OpLogProto()
        with_traces = bool(self.names) and self.chance(0.93)
        texts = [*_FILES, *_FUNCTIONS]
        first_id = rng.choice((0, 1, 100))
        ids = {text: first_id + i for i, text in enumerate(dict.fromkeys(texts))}
        frames = [
            (rng.choice(_FILES), rng.choice(_FUNCTIONS), rng.randint(1, 40)) for _ in range(12)
        ]
        names = [*rng.sample(self.names, rng.randint(0, len(self.names))), "not/in/graph"]
        if with_traces:
            names.append(self.names[0])
            if self.chance(0.7):
                names = list(dict.fromkeys(self.names))
        plain = set(self.names[:1])  # the first name is never a gradient's
        for name in names:
            entry = log.log_entries.add(name=name)
            if self.chance(0.5):
                entry.float_ops = rng.choice((0, 1, 7, 1500, 12345678, 10**12, -5))
            entry.types.extend(rng.choice(_EXTRA_TYPES) for _ in range(rng.choice((0, 0, 1, 2))))
            if with_traces and (name in plain or self.chance(0.8)):
                stack = rng.choice(frames[:2])
                for position in range(rng.choice((1, 2, 3, 4, 5))):
                    file, function, line = stack
                    self.traced_functions.append(function)
                    entry.code_def.traces.add(
                        file_id=ids[file], function_id=ids[function], lineno=line,
                        func_start_line=line // 2, line_id=ids[rng.choice(texts)],
                    )  # fmt: skip
                    stack = rng.choice(frames[position : position + 4])
        for text, number in ids.items():
            log.id_to_string[number] = text
        if self.chance(0.1):
            log.id_to_string[-7] = "unused"
        return log.SerializeToString(deterministic=True)

    # Run metadata

    def step(self) -> AddStep:
        rng = self.rng
        if self.added_steps and self.chance(0.2):
            number = rng.choice(self.added_steps)
        else:
            number = rng.choice((0, 1, 2, 3, 5, 100, 2**31, 2**40, -1, -3))
        run_meta = self.run_meta()
        if pb.RunMetadata.FromString(run_meta).HasField("step_stats"):
            self.added_steps.append(number)
        return AddStep(number, run_meta)

    def run_meta(self) -> bytes:
        run_meta = pb.RunMetadata()
        kind = self.rng.random()
        if kind < 0.03:
            run_meta.partition_graphs.add().node.add(name="elsewhere", op="NoOp")
        else:
            run_meta.step_stats.SetInParent()
            if kind > 0.05:
                self.step_stats(run_meta.step_stats)
        return run_meta.SerializeToString(deterministic=True)

    def step_stats(self, stats: Any) -> None:
        rng = self.rng
        devices: dict[str, Any] = {}

        def block(device: str) -> Any:
            if device not in devices or self.chance(0.02):
                devices[device] = stats.dev_stats.add(device=device)
            return devices[device]

        coverage = rng.choice((0.3, 0.8, 0.95, 1.0))
        for name in dict.fromkeys(self.names):
            if not self.chance(coverage):
                continue
            if name not in self.homes:
                self.homes[name] = rng.choice(_HOME_DEVICES) if self.has_gpu else _CPU
            home = self.homes[name]
            if self.chance(0.04):
                home = rng.choice(_HOME_DEVICES)
            for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
                text = name + rng.choice(("", "", "", ":MatMul", ":x:y"))
                self.node_stats(block(home).node_stats.add(node_name=text))
            if "gpu" in home.lower() and self.chance(0.7):
                self.node_stats(block(_STREAM).node_stats.add(node_name=f"{name}:Kernel"))
            if self.chance(0.08):
                other = rng.choice(_OTHER_DEVICES)
                self.node_stats(block(other).node_stats.add(node_name=name))
        for _ in range(rng.choice((0, 1, 3))):
            self.node_stats(block(_CPU).node_stats.add(node_name=self.run_time_name()))
        if self.chance(0.1):
            stats.dev_stats.add(device=rng.choice(_OTHER_DEVICES))

    def run_time_name(self) -> str:
        rng = self.rng
        if self.run_time_names and self.chance(0.4):
            return rng.choice(self.run_time_names)
        name = rng.choice(
            ("_SOURCE", "RecvTensor", "MEMCPYHtoD", "xMEMCPYx", "_arg_x_0_0", "_retval_y_0_1",
             "layer1/late", "edge_7_conv", "_Send", "late/er/x:Kernel", "memcpy", "MatMul", "/z")
        )  # fmt: skip
        self.run_time_names.append(name)
        return name

    def micros(self) -> int:
        rng = self.rng
        kind = rng.random()
        if kind < 0.1:
            return 0
        if kind < 0.14:
            return -rng.randint(1, 500)
        if kind < 0.17:
            return rng.choice((2**40, 5_000_000_000, 2**62))
        return rng.choice((rng.randint(1, 99), rng.randint(1, 3000), rng.randint(1, 2_500_000)))

    def size(self) -> int:
        rng = self.rng
        kind = rng.random()
        if kind < 0.2:
            return 0
        if kind < 0.23:
            return rng.choice((-64, 2**40, 999, 1000, 999_999, 1_000_000))
        return rng.choice((rng.randint(1, 999), rng.randint(1, 10**6), rng.randint(1, 10**9)))

    def node_stats(self, stats: Any) -> None:
        rng = self.rng
        stats.all_start_micros = 1_600_000_000_000_000 + rng.randint(0, 10**6)
        if self.chance(0.06):
            stats.all_start_micros = rng.choice((0, 0, -5, 1))
        stats.op_start_rel_micros = rng.randint(0, 9)
        stats.op_end_rel_micros = self.micros()
        stats.all_end_rel_micros = stats.op_end_rel_micros + rng.randint(0, 9)
        stats.op_end_rel_nanos = rng.randint(0, 999)
        stats.timeline_label = "y = Other(x)"
        for slot in range(rng.choice((0, 1, 1, 2))):
            output = stats.output.add(slot=slot)
            if self.chance(0.8):
                description = output.tensor_description.allocation_description
                description.requested_bytes = self.size()
                description.allocated_bytes = self.size()
                description.ptr = rng.choice((0, 4096, 2**63))
            elif self.chance(0.5):
                output.tensor_description.dtype = 1
        if self.chance(0.6):
            stats.memory_stats.temp_memory_size = self.size()
            stats.memory_stats.persistent_memory_size = self.size()
            stats.memory_stats.device_temp_memory_size = self.size()
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            memory = stats.memory.add(allocator_name=rng.choice(("cpu", "GPU_0_bfc", "gpu_host")))
            memory.total_bytes, memory.peak_bytes = self.size(), self.size()
            memory.live_bytes, memory.allocator_bytes_in_use = self.size(), self.size()
            memory.allocation_records.add(alloc_micros=rng.randint(0, 99), alloc_bytes=8)

    # Queries

    def query(self) -> tuple[str, dict[str, Any]]:
        view = self.rng.choice(VIEWS)
        options = dict(self.options(view))
        for key in list(options):
            if self.chance(0.01 if key.endswith("_regexes") else 0.05):
                del options[key]
        if view == "code":
            _avoid_code_view_crashes(options)
        return view, options

    def options(self, view: str) -> Iterator[tuple[str, Any]]:
        rng = self.rng
        self.liveliness = rng.choice((0.1, 0.3, 0.8))
        yield "max_depth", self.max_depth()
        for key in MINIMA:
            yield key, self.minimum(key)
        yield "step", self.selected_step()
        unusual = self.chance(0.1)
        yield "order_by", rng.choice(("depth", "", "MICROS") if unusual else ORDERS)
        yield "account_type_regexes", self.account_patterns()
        neutral = {"start": [".*"], "trim": [], "show": [".*"], "hide": []}
        for key in NAME_LISTS:
            patterns = neutral[key.partition("_")[0]]
            yield key, self.name_patterns(view) if self.unusual(0.3) else patterns
        yield "account_displayed_op_only", self.chance(0.2)
        select = rng.sample(ATTRIBUTES, rng.choice((0, 1, 2, 3, 4, 6, 14)))
        if self.chance(0.06):
            select += [rng.choice(("bogus", "Micros", *ATTRIBUTES))]
        yield "select", select
        yield "output", self.output()
        yield "dump_to_file", "dumped.txt" if self.chance(0.03) else ""

    def max_depth(self) -> int:
        if not self.unusual(0.5):
            return self.rng.choice((10, 100, 1000))
        return self.rng.choice(
            (
                0,
                1,
                2,
                2,
                2,
                3,
                3,
                3,
                4,
                4,
                5,
                6,
                -1,
                2**31 - 1,
                2**31,
                2**32 + 3,
                10**12,
                2**63 - 1,
                -(2**63),
            )
        )

    def minimum(self, key: str) -> int:
        if not self.unusual(0.09):
            return 0
        if key == "min_occurrence":
            return self.rng.choice((1, 2, 3))
        return self.rng.choice((1, 1, 1, 20, 500, 500, 10_000, 1_000_000, -1, 2**40))

    def selected_step(self) -> int:
        kind = self.rng.random()
        if kind < 0.04:
            return self.rng.choice((7, 2**33))
        if kind < 0.6 and any(step >= 0 for step in self.added_steps):
            return self.rng.choice([step for step in self.added_steps if step >= 0])
        return self.rng.choice((-1, -1, -1, -3, -(2**40)))

    def output(self) -> str:
        if self.chance(0.02):
            return self.rng.choice(
                ("bogus", "file", "file:outfile", "file:name=x", "stdout:a=b", "none:outfile=x",
                 "file:outfile=no_such_folder/x")
            )  # fmt: skip
        return self.rng.choice(
            ("stdout", "stdout", "stdout", "stdout", "stdout:", "", "none", "none",
             "file:outfile=report.txt", "file:outfile=a:b==c.txt,,outfile=répört.txt")
        )  # fmt: skip

    def account_patterns(self) -> list[str]:
        rng = self.rng
        if not self.unusual(0.8):
            return [".*"]
        if self.chance(0.04):
            return []
        choices = (
            *_OP_TYPES[:6], *_EXTRA_TYPES[:4], "M.*", "[VCPM].*", "(?:Add|Id|No).*", ".*", ".*ul",
            "V.*", ".*", "_trainable.*", ".*gpu:.*", ".*cpu:0", "[A-Z].*", "_kTFScopeParent",
            "_TFGraphParent", ".*a.*", "[A-M].*",
        )  # fmt: skip
        patterns = [rng.choice(choices) for _ in range(rng.choice((1, 2, 3)))]
        if self.chance(0.12):
            patterns.append(rng.choice(_EXOTIC_PATTERNS))
        return patterns

    def name_patterns(self, view: str) -> list[str]:
        if self.chance(0.03):
            return []
        patterns = [self.name_pattern(view) for _ in range(self.rng.choice((1, 1, 2, 3)))]
        if self.chance(0.12):
            patterns.insert(self.rng.randint(0, 1), self.rng.choice(_EXOTIC_PATTERNS))
        return patterns

    def name_pattern(self, view: str) -> str:
        rng = self.rng
        if self.chance(0.25):
            return rng.choice((".*a.*", ".*o.*", "[a-z].*", "[A-Z].*", ".*/.*", "[^/]*"))
        if view == "op":
            name = rng.choice(_OP_TYPES)
        elif view == "code":
            name = rng.choice(self.traced_functions or ["main"])
            return rng.choice((f".*{re.escape(name)[:8]}.*", ".*py.*", ".*gradient.*", ".*:1.:.*"))
        else:
            name = rng.choice(self.names or ["a"])
        literal = "".join(f"\\{c}" if c in ".()[]{}|*+?^$\\" else c for c in name)
        scope = literal.rpartition("/")[0] or literal
        last = literal.rpartition("/")[2]
        return rng.choice(
            (literal, f"{scope}.*", f"{scope}/.*", f".*{last}", f".*{last}.*", f"{literal}|a.*",
             ".*", "[a-l].*", ".*_grad/.*")
        )  # fmt: skip


def _avoid_code_view_crashes(options: dict[str, Any]) -> None:
    """Change the options that make the original's code view segfault (quirks, section 2)."""
    depth = options.get("max_depth", 10)
    if ((depth + 2**31) % 2**32) - 2**31 < 1:
        options["max_depth"] = 3
    patterns = options.get("trim_name_regexes", [])
    options["trim_name_regexes"] = [text for text in patterns if not _may_match_root(text)]


def _may_match_root(pattern: str) -> bool:
    try:
        return pattern in _EXOTIC_PATTERNS or bool(re.fullmatch(pattern, "_TFProfRoot"))
    except re.error:
        return True

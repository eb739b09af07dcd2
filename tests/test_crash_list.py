"""Inputs on which TensorFlow 2.21's profiler aborts, segfaults or stays silent.

Ours gives a defined result or an exception of its own. Of the list in the specification
(tfprof-quirks.md §2) these lines are not here, because they belong to parts that come later:

* loading a profile while a Profiler lives; a loaded profile with has_trace but without traces,
  with inputs or src_output_index of unknown ids, or with exec times of fewer than two values;
  a missing or bad profile file;
* serializing a profile when some input names a node that is not in the table;
* scope or code timeline with negative times; graph timeline without steps;
* advise with ExpensiveOperationChecker;
* the command line: a bad ``--output``, a line of spaces;
* a graph or profile over 2 GiB (tests/core/wire/test_parsing.py has the limit).
"""

import gc
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

import tfprof
from tfprof import EmptyProfileError, TfprofWarning, UsageError
from tfprof.core.wire import messages as pb
from tfprof.testing.builders import graph, logged, op, op_log, options, run, stat, traced
from tfprof.views.write.protos import MAX_PROTO_LEVELS

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

VIEWS = ["scope", "graph", "op", "code"]
MAIN = "f.py:1:main"


@pytest.fixture(params=[False, True], ids=["default", "classic"])
def classic(request):
    return request.param


def small(classic=False, micros=5, **kwargs):
    log = op_log(traced("a", MAIN))
    profiler = tfprof.Profiler(graph(op("a"), op("b", "B", "a")), log, classic=classic, **kwargs)
    profiler.add_step(0, run({"a": micros, "b": 1}))
    return profiler


def names(tree):
    return tree.names[1:]


def depth_of(message):
    depth = 0
    while message.children:
        message = message.children[0]
        depth += 1
    return depth


@pytest.mark.parametrize("empty", [pb.RunMetadata(), b""], ids=["message", "bytes"])
def test_empty_run_metadata_default(empty):
    profiler = tfprof.Profiler(graph(op("a")))
    with pytest.raises(EmptyProfileError, match=r"step 7: .*not traced"):
        profiler.add_step(7, empty)
    assert profiler.steps == []


@pytest.mark.parametrize("empty", [pb.RunMetadata(), b""], ids=["message", "bytes"])
def test_empty_run_metadata_classic(empty):
    profiler = tfprof.Profiler(graph(op("a")), classic=True)
    with pytest.warns(TfprofWarning, match="step 7"):
        profiler.add_step(7, empty)
    assert profiler.steps == []
    assert names(profiler.view("scope", options())) == ["a"]


def test_run_metadata_without_node_stats_add_the_step(classic):
    profiler = tfprof.Profiler(graph(op("a")), classic=classic)
    profiler.add_step(7, pb.RunMetadata(step_stats=pb.StepStats()))
    assert profiler.steps == [7]


def test_rebinding_the_name_of_a_profiler(classic):
    profiler = small(classic)
    profiler = tfprof.Profiler(graph(op("z")), classic=classic)
    gc.collect()
    assert names(profiler.view("scope", options())) == ["z"]


def test_live_profilers_are_independent(classic):
    first, second = small(classic, micros=5), small(classic, micros=70)
    assert first.view("scope", options()).children[0].exec_micros == 5
    assert second.view("scope", options()).children[0].exec_micros == 70
    del first
    gc.collect()
    assert second.view("code", options()).children[0].exec_micros == 70


def test_default_and_classic_profilers_side_by_side():
    graph_def = graph(op("a", "A", "b"), op("b", "B", "a"))
    default, classic = tfprof.Profiler(graph_def), tfprof.Profiler(graph_def, classic=True)
    assert names(classic.view("graph", options())) == []
    assert names(default.view("graph", options())) == ["a", "b"]


@pytest.mark.one_engine
def test_eight_threads_with_their_own_profilers(classic):
    def work(number):
        results = []
        for _ in range(10):
            profiler = small(classic, micros=number)
            for cmd in VIEWS:
                root = profiler.view(cmd, options())
                results.append(root.to_rows()[0]["total_exec_micros"])
        return results

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(1, 9)))
    for number, results in enumerate(found, start=1):
        # The code view has only the traced op.
        assert results == [number + 1, number + 1, number + 1, number] * 10


@pytest.mark.one_engine
def test_four_threads_on_one_profiler(classic):
    profiler = small(classic)
    errors = []
    barrier = threading.Barrier(4)

    def work(number):
        try:
            barrier.wait()
            for turn in range(25):
                profiler.add_step(number, run({"a": 1, f"new_{number}_{turn}": 1}))
                for cmd in VIEWS:
                    tree = profiler.view(cmd, options(select=["micros", "device", "input_shapes"]))
                    tree.to_rows()
                    assert len(tree.names) == len(tree.parent)
                    profiler.report(cmd, options())
                    message = profiler.profile_operations(options())
                    assert message.SerializeToString()
        except BaseException as error:  # handed to the main thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert profiler.steps == [0, 1, 2, 3, 4]
    tree = profiler.view("op", options(step=3))
    # In step 3 the op ran 25 times and 25 run-time ops once: 25 + 25 us.
    assert tree.root.total_exec_micros == 50 if not classic else tree.root.total_exec_micros >= 25


@pytest.mark.parametrize("depth", [0, -1, -(2**63)])
@pytest.mark.parametrize("cmd", VIEWS)
def test_max_depth_below_1(classic, cmd, depth):
    if depth < 0 and not classic:
        with pytest.raises(UsageError, match=f"max_depth={depth} must be 0"):
            small(classic).view(cmd, options(max_depth=depth))
        return
    tree = small(classic).view(cmd, options(max_depth=depth))
    # A depth of 0 is the first type of the op view; -2^63 is 0 in classic mode's 32 bits.
    shows_one = cmd == "op" and (depth == 0 or (classic and depth == -(2**63)))
    assert len(tree) == (2 if shows_one else 1)


@pytest.mark.parametrize("regex", [".*", "_TFProfRoot", "_TF.*"])
@pytest.mark.parametrize("cmd", ["scope", "graph", "code"])
def test_trim_regex_that_matches_the_root(classic, cmd, regex):
    tree = small(classic).view(cmd, options(trim_name_regexes=[regex]))
    assert len(tree) == 1
    assert tree.root.total_exec_micros > 0


def test_trim_regex_of_everything_in_the_op_view(classic):
    assert len(small(classic).view("op", options(trim_name_regexes=[".*"]))) == 1


def test_code_def_without_traces(classic):
    profiler = tfprof.Profiler(graph(op("a")), op_log(traced("a")), classic=classic)
    message = profiler.profile_python(options())
    assert (message.name, len(message.children)) == ("_TFProfRoot", 0)


def test_only_gradient_ops_have_traces(classic):
    name = "gradients/a_grad/mul"
    profiler = tfprof.Profiler(
        graph(op("a"), op(name)), op_log(traced(name, MAIN)), classic=classic
    )
    message = profiler.profile_python(options())
    assert (message.name, len(message.children)) == ("_TFProfRoot", 0)
    assert [notice.code for notice in profiler.notices] == ["gradient-without-forward"]


def test_code_view_without_any_code_def_default():
    profiler = tfprof.Profiler(graph(op("a")), op_log(logged("a", types=["t"])))
    with pytest.raises(EmptyProfileError):
        profiler.profile_python(options())


def test_code_view_without_any_code_def_classic():
    profiler = tfprof.Profiler(graph(op("a")), op_log(logged("a", types=["t"])), classic=True)
    with pytest.warns(TfprofWarning, match="call stacks"):
        assert profiler.profile_python(options()) == pb.MultiGraphNodeProto()


@pytest.mark.parametrize("cmd", VIEWS)
def test_a_node_named_like_the_root(classic, cmd):
    nodes = [op("_TFProfRoot", "_TFProfRoot"), op("b", "B", "_TFProfRoot")]
    log = op_log(traced("_TFProfRoot", MAIN), traced("b", MAIN))
    profiler = tfprof.Profiler(graph(*nodes), log, classic=classic)
    profiler.add_step(0, run({"_TFProfRoot": 5, "b": 20}))
    tree = profiler.view(cmd, options())
    assert tree.root.total_exec_micros == 25
    shown = {"code": [MAIN], "op": ["B", "_TFProfRoot"]}.get(cmd, ["_TFProfRoot", "b"])
    assert sorted(names(tree)) == sorted(shown)
    assert profiler.report(cmd, options()).count("us") > 0


def test_a_scope_named_like_the_root(classic):
    profiler = tfprof.Profiler(graph(op("_TFProfRoot/a"), op("_TFProfRoot/b")), classic=classic)
    profiler.add_step(0, run({"_TFProfRoot/a": 5, "_TFProfRoot/b": 20}))
    tree = profiler.view("scope", options())
    assert names(tree) == ["_TFProfRoot", "_TFProfRoot/a", "_TFProfRoot/b"]
    assert tree.children[0].total_exec_micros == 25
    assert names(profiler.view("scope", options(start_name_regexes=["_TFProfRoot"]))) == names(tree)


def chain(size):
    names = [f"n{i:06d}" for i in range(size)]
    nodes = [op(names[0])]
    nodes += [pb.NodeDef(name=name, op="C", input=[source]) for source, name in pairwise(names)]
    return graph(*nodes), names


@pytest.mark.one_engine
def test_graph_view_of_a_chain_of_100_000_ops(classic):
    size = 100_000
    graph_def, chain_names = chain(size)
    profiler = tfprof.Profiler(graph_def, classic=classic)
    every = options(max_depth=2**31 - 1, select=[])
    tree = profiler.view("graph", every)
    assert names(tree) == chain_names[::-1]
    assert tree.parent.tolist() == list(range(-1, size))
    assert tree.definitions.tolist() == [size, *range(size, 0, -1)]
    assert int(tree.depth[-1]) == size


def test_the_message_of_a_deep_chain_is_cut_with_a_notice(classic):
    graph_def, _ = chain(8_000)
    profiler = tfprof.Profiler(graph_def, classic=classic)
    message = profiler.profile_graph(options(max_depth=2**31 - 1))
    data = message.SerializeToString()
    assert len(data) > MAX_PROTO_LEVELS
    assert depth_of(message) == MAX_PROTO_LEVELS - 1
    assert message.total_definition_count == 8_000
    notices = {notice.code: notice.count for notice in profiler.notices}
    # 8,000 ops and the root are 8,001 levels.
    assert notices["proto-too-deep"] == 8_001 - MAX_PROTO_LEVELS
    assert len(profiler.view("graph", options(max_depth=2**31 - 1))) == 8_001


def test_the_message_of_a_chain_of_100_000_ops():
    graph_def, _ = chain(100_000)
    message = tfprof.Profiler(graph_def).profile_graph(options(max_depth=2**31 - 1))
    assert depth_of(message) == MAX_PROTO_LEVELS - 1
    assert message.SerializeToString()


@pytest.mark.one_engine
def test_scope_view_of_300_000_ops(classic):
    """300,000 instead of a million, to stay within seconds."""
    groups, each = 300, 1_000
    nodes = [op(f"s{g}/l/n{i}") for g in range(groups) for i in range(each)]
    profiler = tfprof.Profiler(graph(*nodes), classic=classic)
    tree = profiler.view("scope", options(order_by="micros"))
    assert len(tree) == 1 + groups * (each + 2)
    assert int(tree.definitions[0]) == groups * (each + 2)


def test_stacks_of_30_000_frames(classic):
    size = 30_000
    lines = [f"f.py:{i}:f" for i in range(1, size + 1)]
    profiler = tfprof.Profiler(
        graph(op("a"), op("b")), op_log(traced("a", *lines)), classic=classic
    )
    profiler.add_step(0, run({"a": 7, "b": 1}))
    every = options(max_depth=2**31 - 1)
    tree = profiler.view("code", every)
    assert names(tree) == lines
    assert tree.total[1].tolist() == [7] * (size + 1)
    message = profiler.profile_python(every)
    assert depth_of(message) == MAX_PROTO_LEVELS - 1
    assert message.SerializeToString()
    assert "proto-too-deep" in {notice.code for notice in profiler.notices}


def test_an_op_view_of_more_types_than_messages_nest(classic):
    nodes = [op(f"n{i:05d}", f"T{i:05d}") for i in range(MAX_PROTO_LEVELS + 10)]
    profiler = tfprof.Profiler(graph(*nodes), classic=classic)
    message = profiler.profile_operations(options(max_depth=10**6))
    assert depth_of(message) == MAX_PROTO_LEVELS - 1
    assert message.SerializeToString()
    assert len(profiler.view("op", options(max_depth=10**6))) == MAX_PROTO_LEVELS + 11


@pytest.mark.parametrize("levels", [99, 150, 1000])
def test_messages_deeper_than_100_levels_are_complete(classic, levels):
    graph_def, chain_names = chain(levels)
    profiler = tfprof.Profiler(graph_def, classic=classic)
    message = profiler.profile_graph(options(max_depth=10**6))
    assert message.total_definition_count == levels
    found = []
    while message.children:
        (message,) = message.children
        found.append(message.name)
    assert found == chain_names[::-1]


def test_trace_ids_that_are_not_in_the_table(classic):
    log = op_log(traced("a", "f.py:1:main"))
    log.id_to_string.clear()
    profiler = tfprof.Profiler(graph(op("a")), log, classic=classic)
    assert names(profiler.view("code", options())) == ["unknown#1:1:unknown#2"]
    assert "unknown-trace-string" in {notice.code for notice in profiler.notices}


def test_node_stats_with_a_colon_in_the_name_and_outputs(classic):
    profiler = tfprof.Profiler(graph(op("a", outputs=["?"])), classic=classic)
    profiler.add_step(0, run({"a:0": stat(5, outputs=[10]), ":x": stat(1, outputs=[1])}))
    tree = profiler.view("scope", options())
    columns = {node.name: node.output_bytes for node in tree.children}
    assert columns == {"": 1, "a": 10}


@pytest.mark.parametrize("step", ["1", 1.0, None, [1], 1j], ids=repr)
def test_a_step_that_is_not_an_integer(classic, step):
    profiler = tfprof.Profiler(graph(op("a")), classic=classic)
    with pytest.raises(UsageError, match="must be an integer"):
        profiler.add_step(step, run({"a": 1}))
    assert profiler.steps == []


@pytest.mark.parametrize("step", [2**63, -(2**63) - 1, 10**30])
def test_a_step_out_of_64_bits(classic, step):
    profiler = tfprof.Profiler(graph(op("a")), classic=classic)
    with pytest.raises(UsageError, match="64 bits"):
        profiler.add_step(step, run({"a": 1}))


@pytest.mark.parametrize("step", [2**63 - 1, -(2**63), 0, True])
def test_the_outermost_steps(classic, step):
    profiler = tfprof.Profiler(graph(op("a")), classic=classic)
    profiler.add_step(step, run({"a": 6}))
    assert profiler.steps == [int(step)]
    assert profiler.view("scope", options(step=int(step))).root.total_exec_micros == 6


def test_no_run_metadata(classic):
    profiler = tfprof.Profiler(graph(op("a")), classic=classic)
    with pytest.raises(UsageError, match="run_meta must be a RunMetadata"):
        profiler.add_step(0, None)


GARBAGE = [b"\xff" * 30, b"\x00", b"garbage, not a message at all", b"\x0a\xff\xff\xff\xff\x0f"]


@pytest.mark.parametrize("data", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_bytes(classic, data):
    with pytest.raises(tfprof.InputError):
        tfprof.Profiler(data, classic=classic)
    with pytest.raises(tfprof.InputError):
        tfprof.Profiler(graph(op("a")), data, classic=classic)
    profiler = small(classic)
    with pytest.raises(tfprof.InputError):
        profiler.add_step(3, data)
    with pytest.raises(tfprof.InputError):
        tfprof.profile(data, options=options(), classic=classic)
    # What failed leaves no trace.
    assert profiler.steps == [0]
    assert names(profiler.view("scope", options())) == ["a", "b"]


def test_an_op_log_of_unknown_nodes_only(classic):
    log = op_log(traced("x", MAIN, float_ops=4, types=["t"]), logged("", types=["u"]))
    profiler = tfprof.Profiler(graph(op("a")), log, classic=classic)
    assert names(profiler.view("scope", options())) == ["a"]
    assert names(profiler.view("op", options(account_type_regexes=["t", "u"]))) == []


@pytest.mark.parametrize("cmd", VIEWS)
def test_empty_regex_lists(classic, cmd):
    empty = {f"{name}_name_regexes": [] for name in ("start", "trim", "show", "hide")}
    tree = small(classic).view(cmd, options(**empty, account_type_regexes=[]))
    assert len(tree) == 1


REGEX_OPTIONS = [
    "account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes",
    "hide_name_regexes",
]  # fmt: skip
INVALID = ["(", "a{2", "*", "[z-a]", "(?P<n>", "\\", "(?=a)", "a{1001}", "\\1"]
INVALID.remove("a{2")  # RE2 takes it literally


@pytest.mark.parametrize("option", REGEX_OPTIONS)
@pytest.mark.parametrize("regex", INVALID)
def test_invalid_regexes_default(option, regex):
    with pytest.raises(UsageError):
        small().view("scope", options(**{option: ["a", regex]}))


@pytest.mark.parametrize("option", REGEX_OPTIONS)
def test_invalid_regexes_never_match_in_classic_mode(option):
    profiler = small(classic=True)
    with pytest.warns(TfprofWarning):
        tree = profiler.view("scope", options(**{option: ["("]}))
    shown = [] if option.split("_")[0] in ("account", "start", "show") else ["a", "b"]
    assert names(tree) == shown


@pytest.mark.parametrize("cmd", VIEWS)
def test_an_unknown_step_default(cmd):
    with pytest.raises(UsageError, match="step 9 was not added; available steps: 0"):
        small().view(cmd, options(step=9))


def test_an_unknown_step_classic():
    with pytest.warns(TfprofWarning, match="step 9"):
        assert small(classic=True).profile_name_scope(options(step=9)) == pb.GraphNodeProto()


@pytest.mark.parametrize("cmd", ["advise", "Scope", "", None, 3])
def test_an_unknown_command(classic, cmd):
    with pytest.raises(UsageError, match="scope, graph, op, code"):
        small(classic).view(cmd)
    with pytest.raises(UsageError, match="scope, graph, op, code"):
        tfprof.profile(graph(op("a")), cmd=cmd, classic=classic)


@pytest.mark.parametrize("cmd", ["scope", "graph", "op"])
def test_a_profiler_of_nothing(classic, cmd):
    profiler = tfprof.Profiler(b"", classic=classic)
    assert profiler.coverage == 0
    assert len(profiler.view(cmd)) == 1
    assert profiler.report(cmd)
    profiler.add_step(0, run({"late": 5}))
    assert len(profiler.view(cmd)) == (1 if classic else 2)


def test_names_that_are_hard_to_print(classic):
    hard = ["a\nb", "\x1b[31m", "\u202ex", "</script>", "\x00", "", "\U0001f600", " "]
    profiler = tfprof.Profiler(graph(*(op(name, name) for name in hard)), classic=classic)
    profiler.add_step(0, run(dict.fromkeys(hard, 1)))
    for cmd in ("scope", "graph", "op"):
        tree = profiler.view(cmd)
        assert set(hard) <= set(names(tree))
        assert profiler.report(cmd)


# Not on the list, but of the same kind.


def test_an_output_index_beyond_64_bits(classic):
    nodes = [op("a", outputs=[[2]]), op("y", "Apply", "a:99999999999999999999")]
    profiler = tfprof.Profiler(graph(*nodes), classic=classic)
    assert names(profiler.view("scope", options())) == ["a", "y"]


def test_more_float_operations_than_64_bits_can_say():
    huge = [[2**40, 2**40]]
    nodes = [op("x", outputs=huge), op("mm", "MatMul", "x", "x", outputs=huge)]
    profiler = tfprof.Profiler(graph(*nodes))
    # 2^121 operations: as with parameters (quirk Q22), left out, and the notices say so.
    assert profiler.view("op", options()).root.total_float_ops == 0
    assert {n.code: n.count for n in profiler.notices} == {"too-many-float-operations": 1}


@pytest.mark.parametrize("damaged", [b"\xff\xff", b"\x0a\x02\xff\xff"], ids=["wire", "utf-8"])
def test_a_damaged_variable_in_a_meta_graph(damaged):
    message = pb.MetaGraphDef(graph_def=graph(op("w")))
    message.collection_def["trainable_variables"].bytes_list.value.append(damaged)
    with pytest.raises(tfprof.MalformedProfileError):
        tfprof.Profiler(message)


@pytest.mark.parametrize("name", ["a", "new"])
def test_a_timeline_label_that_is_not_utf_8(classic, name):
    """A label that is not read may be anything; else the run is refused and leaves no trace."""
    profiler = small(classic)
    data = run({name: stat(7, label="LABEL")}).SerializeToString()
    try:
        profiler.add_step(1, data.replace(b"LABEL", b"\xffABEL"))
    except tfprof.MalformedProfileError:
        assert profiler.steps == [0]
    else:
        assert profiler.view("scope", options(step=1)).root.total_exec_micros == 7


@pytest.mark.parametrize("wrong", [[1], "step=1", 3], ids=str)
def test_options_of_a_view_must_be_a_dict(classic, wrong):
    with pytest.raises(UsageError, match="must be a dict"):
        small(classic).view("scope", wrong)


def damaged_copies(data, count):
    """Copies with flipped bits, missing, added and cut off bytes; always the same ones."""
    chance = random.Random(1)
    for _ in range(count):
        copy = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(copy)) if copy else 0
            way = chance.randrange(4)
            if way == 0 and copy:
                copy[place] ^= 1 << chance.randrange(8)
            elif way == 1:
                del copy[place : place + chance.randint(1, 5)]
            elif way == 2:
                copy[place:place] = chance.randbytes(chance.randint(1, 4))
            else:
                del copy[len(copy) - chance.randint(0, 3) :]
        yield bytes(copy)


@pytest.mark.parametrize("part", ["graph", "op_log", "run_meta"])
def test_damaged_bytes_give_an_answer_or_an_error_of_ours(classic, part):
    nodes = [op("x", "Split", shape=[2], outputs=[[2, 3], "?"]), op("y", "Relu", "x", "x:1", "^x")]
    parts = {
        "graph": graph(*nodes),
        "op_log": op_log(traced("y", "f.py:3:main", "b.py:4:g", float_ops=4, types=["t"])),
        "run_meta": run({"x": stat(5, memory=(1, 2, 3), outputs=[4], label="x = F()"), "y": 7}),
    }
    data = {name: message.SerializeToString() for name, message in parts.items()}
    answered = 0
    for copy in damaged_copies(data[part], 300):
        given = data | {part: copy}
        try:
            profiler = tfprof.Profiler(given["graph"], given["op_log"], classic=classic)
            profiler.add_step(0, given["run_meta"])
        except tfprof.InputError:
            continue
        for cmd in ("scope", "graph", "op"):
            assert profiler.report(cmd, options(select=["micros", "bytes", "input_shapes"]))
        answered += 1
    assert 0 < answered < 300

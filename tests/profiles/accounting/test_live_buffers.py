import tfprof
from tfprof.profiles.accounting.device_time import peak_holders
from tfprof.testing.builders import CPU, GPU, graph, op, run_on, stat


def made(start, size, address=0, micros=10):
    execution = stat(micros, start=start, outputs=(size,) if size else ())
    if address:
        execution.output[0].tensor_description.allocation_description.ptr = address
    return execution


def holders(nodes, executions, device=CPU):
    profiler = tfprof.Profiler(graph(*nodes))
    blocks = executions if CPU in executions or GPU in executions else {CPU: executions}
    profiler.add_step(0, run_on(blocks))
    profile = profiler._session.profile
    peak = peak_holders(
        profile.ops,
        profile.steps.records[0],
        profile.steps.details[0],
        profile.ops.strings.ids[device.lower()],
    )
    rows = zip(peak.rows.tolist(), peak.sizes.tolist(), strict=True)
    return peak.peak_bytes, [(profile.ops.name(row), size) for row, size in rows]


CHAIN = [op("a"), op("b", "X", "a"), op("c", "X", "b"), op("d", "X", "c")]


def test_a_buffer_lives_until_its_last_reader_ends():
    # While b runs, a and b are alive; a dies before c starts, so b and c come next, then c and d.
    executions = {
        "a": made(100, 30), "b": made(110, 50), "c": made(120, 60), "d": made(130, 10),
    }  # fmt: skip
    assert holders(CHAIN, executions) == (110, [("c", 60), ("b", 50)])


def test_a_late_reader_keeps_a_buffer():
    nodes = [*CHAIN[:3], op("d", "X", "c", "a")]
    executions = {
        "a": made(100, 30), "b": made(110, 50), "c": made(120, 60), "d": made(130, 10),
    }  # fmt: skip
    assert holders(nodes, executions) == (140, [("c", 60), ("b", 50), ("a", 30)])


def test_a_control_edge_keeps_nothing():
    nodes = [*CHAIN[:3], op("d", "X", "c", "^a")]
    executions = {
        "a": made(100, 30), "b": made(110, 50), "c": made(120, 60), "d": made(130, 10),
    }  # fmt: skip
    assert holders(nodes, executions)[0] == 110


def test_outputs_at_one_address_are_one_buffer_of_the_first_op():
    # b returns its input, as Reshape does: one buffer, alive from a to the end of c.
    executions = {"a": made(100, 30, 0x10), "b": made(105, 30, 0x10), "c": made(120, 7, 0x20)}
    assert holders(CHAIN[:3], executions) == (37, [("a", 30), ("c", 7)])


def test_an_address_that_is_used_again_is_another_buffer():
    executions = {"a": made(100, 30, 0x10), "b": made(110, 5, 0x20), "d": made(150, 40, 0x10)}
    assert holders(CHAIN, executions) == (40, [("d", 40)])


def test_outputs_without_an_address_share_none():
    assert holders([op("a"), op("b")], {"a": made(100, 30), "b": made(105, 30)})[0] == 60


def test_each_device_by_itself():
    executions = {CPU: {"a": made(100, 30)}, GPU: {"b": made(100, 50)}}
    nodes = [op("a"), op("b")]
    assert holders(nodes, executions) == (30, [("a", 30)])
    assert holders(nodes, executions, GPU) == (50, [("b", 50)])


def test_no_outputs():
    assert holders([op("a")], {"a": made(100, 0)}) == (0, [])


def test_far_apart_times_do_not_overflow():
    executions = {"a": made(1, 30), "b": made(2**62, 50)}
    assert holders([op("a"), op("b")], executions) == (50, [("b", 50)])

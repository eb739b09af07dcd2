"""What the command line says of captures that lack something: an answer with notes, or an error.

Every tool runs on each kind. None may show a number without a remark on what is missing.
"""

import lzma

import pytest

from tests.captures.tools.small_captures import capture, with_gpu, with_tpu
from tfprof.captures.all_tools import TABLE_TOOLS
from tfprof.demo import demo_capture
from tfprof.testing.xspace_builders import event, host, line, plane, xspace

NAMES = tuple(tool.name for tool in TABLE_TOOLS)
STEPS = ("overview", "input-pipeline", "pod", "stragglers", "monitor")
"""Tools whose numbers are those of steps."""

NOTHING = {
    "overview": "No step time was measured",
    "input-pipeline": "No step time was measured",
    "tf-data": "No tf.data activity was recorded",
    "op-stats": "no ops of TensorFlow or JAX are in this capture",
    "kernel-stats": "no GPU kernels in this capture",
    "memory": "no allocations in this capture",
    "pod": "No steps, so nothing to compare",
    "stragglers": "No steps, so nothing to compare",
    "collectives": "No collective of a device was recorded",
    "op-profile": "There are no device ops",
    "hlo-stats": "There are no device ops",
    "roofline": "There are no device ops",
    "memory-viewer": "The capture holds no compiled programs",
    "graph-viewer": "The capture holds no compiled programs",
    "compiles": "No event of the runtime was captured",
    "latency": "The capture has no annotation of the program",
    "monitor": "No steps, so no step time",
    "utilization": "no step was captured, so there is no period",
}
"""What a tool says that has no data."""

HOUR_NS = 3600 * 10**9


def late(hours):
    space = capture(3)
    space.planes[0].lines[0].timestamp_ns += hours * HOUR_NS
    return space


def marked_only():
    return xspace(host(line(*(event("train", n * 100, 90, step_num=n, _r=1) for n in range(2)))))


def unmarked():
    return xspace(host(line(event("a:MatMul", 0, 50))))


def unknown():
    return xspace(plane("/weird:0", line(event("a:B", 0, 9))))


BROKEN = b"this is not a capture, and never was one"


@pytest.fixture
def asked(call, tmp_path):
    """What a command says of captures: stdout and stderr as words with single blanks."""

    def asked(command, *spaces, exit_code=0):
        folder = tmp_path / "run"
        folder.mkdir(exist_ok=True)
        for number, space in enumerate(spaces):
            data = space if isinstance(space, bytes) else space.SerializeToString()
            (folder / f"w{number}.xplane.pb").write_bytes(data)
        words = ["-o", tmp_path / "trace.json", "--force"] if command == "trace" else []
        result = call(command, folder, *words)
        assert result.exit_code == exit_code, result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return " ".join(f"{result.stdout} {result.stderr}".split())

    return asked


@pytest.mark.parametrize("name", [*NAMES, "trace", "tools"])
def test_no_captures_and_broken_ones_are_errors(asked, name):
    assert "holds no capture" in asked(name, exit_code=4)
    assert "not an XSpace message" in asked(name, BROKEN, exit_code=3)
    assert "w0.xplane.pb: is empty" in asked(name, b"", exit_code=3)


@pytest.mark.parametrize("name", NAMES)
def test_a_capture_without_events(asked, name):
    said = asked(name, xspace(hostname="m"))
    assert "holds no events: the profiler was stopped before the program ran" in said
    assert NOTHING[name] in said


@pytest.mark.parametrize("name", ["trace", "tools", "advise"])
def test_other_commands_of_a_capture_without_events(asked, name):
    assert "holds no events" in asked(name, xspace(hostname="m"))


@pytest.mark.parametrize("name", NAMES)
def test_only_unknown_planes(asked, name):
    said = asked(name, unknown())
    assert NOTHING[name] in said
    assert "holds planes of an unknown kind: /weird:0 (1 event)" in said


@pytest.mark.parametrize("name", [*STEPS, "advise"])
def test_no_steps(asked, name):
    said = asked(name, unmarked())
    assert "no steps were found: none was marked" in said
    assert "tfprof.capture.step(number)" in said


@pytest.mark.parametrize("name", [*STEPS, "advise"])
def test_marked_steps_in_which_nothing_was_computed(asked, name):
    said = asked(name, marked_only())
    assert "none was marked" not in said
    assert "no op was seen in any step: ops were not recorded (tfprof.capture(" in said


@pytest.mark.parametrize("name", sorted({*NAMES} - {*STEPS, "op-stats", "utilization", "compiles"}))
def test_no_device(asked, name):
    assert NOTHING[name] in asked(name, capture())


def test_ops_without_a_device(asked):
    assert "no ops on devices: the capture has none" in asked("op-stats", capture())


def test_products_without_a_program(asked):
    said = asked("utilization", capture())
    assert "no float operations of products are known (a takes the most time" in said


@pytest.mark.parametrize("name", STEPS)
def test_clocks_that_are_hours_apart(asked, name):
    said = asked(name, capture(3), late(5))
    assert "by its clock, steps are 18,000.000 s later than on w0" in said
    assert ("(3 steps)" if name == "monitor" else "train 2") in said


@pytest.mark.parametrize("name", STEPS)
def test_hosts_with_different_numbers_of_steps(asked, name):
    said = asked(name, capture(5), capture(3))
    assert "2 steps that other hosts do not have are left out [w0]" in said


@pytest.mark.parametrize("name", STEPS)
def test_hosts_whose_numbers_differ(asked, name):
    said = asked(name, capture(3), capture(3, first=10))
    assert "train 0 on w0 is train 10 here, if the clocks are right [w1]" in said


@pytest.mark.parametrize("name", [*NAMES, "trace", "tools", "advise"])
def test_one_broken_file_among_others(asked, name):
    said = asked(name, capture(), BROKEN, capture())
    assert "not read, so no result includes it:" in said
    assert "w1.xplane.pb: not an XSpace message" in said


@pytest.mark.parametrize("name", NAMES)
def test_hosts_of_one_name(call, tmp_path, name):
    paths = []
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "w.xplane.pb")
        paths[-1].write_bytes(capture(machine=folder).SerializeToString())
    result = call(name, *paths)
    assert result.exit_code == 0
    assert "another file has the name 'w', too [w (2)]" in " ".join(result.output.split())
    assert call(name, tmp_path / "x", tmp_path / "y").exit_code == 2  # folders


@pytest.mark.parametrize("name", NAMES)
def test_devices_of_several_kinds(asked, name):
    said = asked(name, with_gpu(), with_tpu())
    if name in STEPS:
        assert "has GPUs, but other hosts have TPUs" in said
    if name in ("overview", "op-stats", "op-profile", "hlo-stats", "roofline"):
        assert "the devices are of several kinds: TPU v4, Nvidia GPU (Ampere)" in said


def test_a_table_of_a_tool_without_programs_says_so(call, tmp_path):
    path = tmp_path / "w.xplane.pb"
    path.write_bytes(capture().SerializeToString())
    result = call("memory-viewer", path, "--format", "gviz")
    assert result.exit_code == 4
    assert "The capture holds no compiled programs" in result.stderr


@pytest.mark.parametrize("name", ["overview", "info", "advise", "trace"])
def test_any_number_of_remarks(asked, name):
    space = xspace(host(line(event("train", 0, 10, step_num=1, _r=1))))
    space.warnings.extend(f"remark {number}" for number in range(16_000))
    said = asked(name, space)
    assert "remark 0" in said and "remark 19" in said
    assert "more" in said and len(said) < 20_000


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """A capture whose last tenth is missing; it still has steps."""
    whole = lzma.decompress(demo_capture("gpu").read_bytes())
    path = tmp_path_factory.mktemp("cut") / "host.xplane.pb"
    path.write_bytes(whole[: len(whole) * 9 // 10])
    return str(path)


@pytest.mark.parametrize(
    "words",
    [
        "overview CUT", "op-stats CUT --format csv", "op CUT --format csv", "advise CUT",
        "query CUT --format csv TEXT", "diff GPU CUT", "diff GPU CUT --view op",
        "diff CUT GPU --tool op-stats --format csv", "whatif CUT --free input",
        "check CUT --budget BUDGET", "report CUT --pages overview -o OUT.html",
        "convert CUT -o OUT.pb", "convert CUT -o OUT.collapsed", "export CUT --table steps",
        "timeline CUT -o OUT.json", "trace CUT -o OUT.json", "info CUT",
    ],
)  # fmt: skip
def test_commands_on_a_cut_capture_answer_and_tell_that_it_is_cut(call, cut, tmp_path, words):
    (tmp_path / "budget.toml").write_text('step_time = "<= 10 s"\n')
    arguments = {
        "CUT": cut,
        "GPU": str(demo_capture("gpu")),
        "BUDGET": str(tmp_path / "budget.toml"),
        "TEXT": "select count(*) from events",
    }
    of_test = str(tmp_path / "out")
    result = call(
        *(arguments.get(word, word.replace("OUT", of_test)) for word in words.split()),
    )
    assert result.exit_code == 0, result.stderr
    assert "is truncated or damaged" in " ".join((result.stdout + result.stderr).split())

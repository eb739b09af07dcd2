"""Programs that use neither TensorFlow nor JAX: steps, scopes, and the GPU of a stand-in."""

import subprocess
import sys
import threading
import time

import pytest

import tfprof
from tests.capture.cupti.stand_in import Cupti, CuptiError, call, copy, device, kernel
from tfprof import tools
from tfprof.capture import session
from tfprof.capture.cupti.adapter import GpuSession
from tfprof.capture.gpu_part import GpuPart
from tfprof.core.wire import messages as pb
from tfprof.errors import EmptyProfileError, UsageError

OPTIONS = tfprof.capture.CaptureOptions(framework="none", gpu_tracer="cupti")


@pytest.fixture
def gpu(monkeypatch):
    """What the GPU does, to be filled while it is recorded."""
    made = [device()]
    monkeypatch.setattr(session, "GpuPart", lambda: GpuPart(GpuSession(lambda: Cupti(made))))
    return made


def launch(gpu, name, thread=None):
    now, number = time.time_ns(), 1 + len(gpu)
    own = threading.get_ident() & 0xFFFFFFFF
    gpu.append(call(now, now + 10, number, thread=thread or own))
    gpu.append(kernel(now + 20, now + 1020, number, name=name))


def ops_of(run):
    return {row["kernel_name"]: row["op_name"] for row in tools.kernel_stats(run).to_rows()}


def test_steps_and_scopes_of_a_program(tmp_path, gpu):
    with tfprof.capture(tmp_path, OPTIONS) as captured:
        for number in range(3):
            with tfprof.capture.step(number):
                with tfprof.capture.scope("encoder/attention"):
                    launch(gpu, "outer")
                    with tfprof.capture.scope("encoder/attention/softmax"):
                        launch(gpu, "inner")
                    launch(gpu, "of a helper", thread=77)  # one op alone runs
                launch(gpu, "alone")
    assert ops_of(captured.run) == {
        "outer": "encoder/attention",
        "inner": "encoder/attention/softmax",
        "of a helper": "encoder/attention",
        "alone": "",
    }
    assert captured.folder is not None and captured.folder.is_dir()
    assert captured.profiler.steps == [0, 1, 2]
    [host] = captured.run.hosts
    events = host.timeline.events_of_plane(host.timeline.planes_of_gpus()[0])
    groups = [host.groups().names.get(int(group)) for group in host.groups().of_event[events]]
    assert groups.count("train 1") >= 3
    assert captured.notes == ()


def test_run_metadata_of_a_step(gpu):
    with tfprof.capture(None, OPTIONS) as captured:
        for number in (3, 4):
            with tfprof.capture.step(number), tfprof.capture.scope("layer"):
                launch(gpu, f"kernel {number}")
        launch(gpu, "between")
    for step, labels in ((3, ["kernel 3"]), (4, ["kernel 4"]),
                         (None, ["kernel 3", "kernel 4", "between"])):  # fmt: skip
        made = captured.gpu_run_metadata(step)
        nodes = {each.device: each.node_stats for each in made.step_stats.dev_stats}
        [*found] = nodes["/device:GPU:0/stream:all"]
        assert [node.timeline_label.partition(" regs")[0] for node in found] == labels
    assert [node.node_name for node in found] == ["layer:layer", "layer:layer", "unknown"]
    with pytest.raises(UsageError, match="step=5 is not marked in this capture; marked are: 3, 4"):
        captured.gpu_run_metadata(5)
    graph = pb.GraphDef()
    graph.node.add(name="layer", op="Layer")
    profiler = tfprof.Profiler(graph)
    profiler.add_step(3, captured.gpu_run_metadata(3))
    [row] = [each for each in profiler.view("graph").to_rows() if each["name"] == "layer"]
    assert row["accelerator_exec_micros"] == 1


def test_names_that_no_op_can_have(gpu):
    with tfprof.capture(None, OPTIONS) as captured, tfprof.capture.step(1):
        for name in ("forward pass:1", "", "Ünïcode\ud800", "layer_3", "7"):
            with tfprof.capture.scope(name):
                launch(gpu, f"kernel of {name!r}")
    assert sorted(ops_of(captured.run).values()) == [
        "7",
        "_",
        "_n_code_",
        "forward_pass_1",
        "layer_3",
    ]


def test_no_gpu_and_no_marks():
    """The program goes on; a note reports what is missing."""
    failing = Cupti(fails={"subscribe_v2": CuptiError(39)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "GpuPart", lambda: GpuPart(GpuSession(lambda: failing)))
        with tfprof.capture(None, OPTIONS) as captured:
            pass
    said = " ".join(note.message for note in captured.notes)
    assert "another profiler records the GPU" in said
    assert "with which options" not in said
    with pytest.raises(EmptyProfileError, match="another profiler records the GPU"):
        captured.gpu_run_metadata()
    with tfprof.capture.scope("not recorded"):
        pass


def test_copies_without_a_step(gpu):
    with tfprof.capture(None, OPTIONS) as captured:
        now = time.time_ns()
        gpu.append(copy(now, now + 500, 1))
    assert [p.name for p in captured.run.hosts[0].space.planes][-1] == "/device:GPU:0"


def test_options_that_do_not_go_together():
    with pytest.raises(UsageError, match="needs gpu_tracer='cupti'"):
        tfprof.capture.CaptureOptions(framework="none")
    with pytest.raises(UsageError, match="must be one of tensorflow, jax"):
        tfprof.capture.serve(0, framework="none")


def test_a_process_without_tensorflow_and_gpu(tmp_path):
    """A real one: neither framework is imported, and the capture says that there is no GPU."""
    code = f"""
import sys, tfprof
options = tfprof.capture.CaptureOptions(framework="none", gpu_tracer="cupti")
with tfprof.capture({str(tmp_path)!r}, options) as captured:
    with tfprof.capture.step(4), tfprof.capture.scope("work"):
        pass
assert "tensorflow" not in sys.modules and "jax" not in sys.modules
print(len(captured.notes), [note.message for note in captured.notes])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "GPU" in done.stdout
    [run] = (tmp_path / "plugins" / "profile").iterdir()
    assert "train" in tfprof.open_run(run).hosts[0].timeline.names

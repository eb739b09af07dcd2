"""The session of CUPTI, over a stand-in module; where the real one is installed, its failures."""

import re

import pytest

from tests.capture.cupti.sessions import recorded, session
from tests.capture.cupti.stand_in import ActivityKind as Kinds
from tests.capture.cupti.stand_in import (
    Cupti,
    CuptiError,
    call,
    copy,
    device,
    fill,
    kernel,
    overhead,
)
from tfprof.capture.cupti.adapter import GpuError, GpuSession, bindings
from tfprof.capture.cupti.cuda import synchronize
from tfprof.capture.cupti.records import Kernel
from tfprof.capture.cupti.status import Status

BUFFERS = (
    [kernel(1000, 3000, 1), call(500, 600, 1)],
    [copy(3000, 3500, 2), fill(3600, 3700, 3), overhead(10, 20), call(700, 800, 2, cbid=41)],
)


def test_a_session_from_begin_to_end():
    cupti = Cupti(*BUFFERS)
    records = recorded(cupti)
    assert [one.name for one in records.activities] == ["gemm", "MemcpyH2D", "Memset 3"]
    first = records.activities[0]
    assert isinstance(first, Kernel)
    assert first.details == (
        "regs:64 static_shared:1024 dynamic_shared:512 grid:80,2,1 block:256,1,1"
    )
    assert records.activities[1].details == (
        "kind_src:pinned kind_dst:device size:4096 dest:0 async:1"
    )
    assert [one.name for one in records.calls] == ["cudaLaunchKernel_v211", "cudaLaunchKernel_v41"]
    assert records.overheads[0].name == "buffer flush"
    assert cupti.log.index("synchronized") < cupti.log.index("activity_flush_all")
    assert cupti.log.count("get_callback_name") == 2  # once for each function
    assert not cupti.enabled
    assert cupti.subscribed == 0


@pytest.mark.parametrize(
    ("number", "code"),
    [(2, "no_gpu"), (8, "out_of_memory"), (9, "hardware"), (14, "incompatible"),
     (15, "not_initialized"), (26, "hardware"), (27, "unsupported"), (33, "virtualized"),
     (35, "privileges"), (36, "old_profiler"), (39, "busy"), (40, "virtual_privileges"),
     (41, "confidential"), (43, "mig"), (45, "wsl"), (999, "other"), (12345, "other")],
)  # fmt: skip
@pytest.mark.parametrize(
    "where", ["subscribe_v2", "activity_register_callbacks", "activity_enable"]
)
def test_each_failure_has_a_status_with_a_remedy_and_leaves_nothing(where, number, code):
    cupti = Cupti(fails={where: CuptiError(number)})
    with pytest.raises(GpuError) as caught:
        session(cupti).start()
    assert caught.value.status.code == code
    assert caught.value.status.remedy
    assert f"ERROR ({number})" in str(caught.value)
    assert not cupti.enabled
    assert cupti.subscribed == 0


def probe(load=bindings):
    """Whether GPU activity can be recorded now."""
    made = GpuSession(load)
    try:
        made.start()
    except GpuError as error:
        return error.status
    made.stop(lambda: None)
    return Status("ok", "GPU activity can be recorded")


def test_errors_of_the_bindings():
    too_old = RuntimeError("only CUDA 13.0 or later driver is supported")
    for error, code in (
        (RuntimeError("CUDA driver is not found (libcuda.so.1)"), "no_driver"),
        (too_old, "driver_too_old"),
        (type("FunctionNotFoundError", (RuntimeError,), {})("cuptiX"), "libcupti_too_old"),
        (type("DynamicLibNotFoundError", (RuntimeError,), {})("cupti"), "libcupti_missing"),
        (MemoryError(), "out_of_memory"),
        (RuntimeError("what is this"), "other"),
    ):
        assert probe(lambda e=error: Cupti(fails={"activity_enable": e})).code == code


def test_another_client_is_named_if_it_can_be():
    class Named(Cupti.SubscriberParams):
        old_subscriber_name = "nsys"

    class Unreadable(Cupti.SubscriberParams):
        @property
        def old_subscriber_name(self):
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid")

    for params, said in ((Named, "nsys"), (Unreadable, "ERROR (39)")):
        cupti = Cupti(fails={"subscribe_v2": CuptiError(39)})
        cupti.SubscriberParams = params
        status = probe(lambda c=cupti: c)
        assert status.code == "busy"
        assert said in status.message


def test_missing_bindings(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cupti.cupti", None)
    with pytest.raises(GpuError, match=r"tfprof\[gpu\]"):
        bindings()
    assert probe().code == "bindings_missing"
    lacking = ModuleNotFoundError("No module named 'elftools'", name="elftools")
    monkeypatch.setattr("importlib.import_module", lambda name: raise_(lacking))
    assert probe().code == "bindings_broken"


def raise_(error):
    raise error


def test_old_bindings_and_old_libraries():
    assert recorded(Cupti(*BUFFERS, without=("RUNTIME",))).calls == []
    assert recorded(Cupti(*BUFFERS, without=("subscribe_v2",))).activities
    refused = Cupti(*BUFFERS, fails={"subscribe_v2": CuptiError(1)})
    assert recorded(refused).activities  # falls back on subscribe
    assert refused.log.count("subscribe_v2") == 2
    undropped = Cupti(*BUFFERS, fails={"activity_get_num_dropped_records": CuptiError(999)})
    assert recorded(undropped).n_dropped == 0


def test_what_is_lost_is_counted():
    broken = kernel(5, 6, 9)
    del broken.grid_x
    untimed = kernel(0, 0, 10)
    cupti = Cupti([broken, untimed, kernel(1, 2, 11)], dropped=3)
    records = recorded(cupti)
    assert (records.n_dropped, records.n_unread, records.n_without_time) == (3, 1, 1)
    assert "grid_x" in records.problem
    assert recorded(Cupti(*BUFFERS), most_records=1).n_dropped == 1  # of two calls


def test_callbacks_never_raise():
    one = session(Cupti())
    one.start()
    one._completed(None)
    one._completed([object()])
    assert one.records.n_unread == 2


def test_a_failing_stop_gives_cupti_back():
    cupti = Cupti(*BUFFERS, fails={"activity_flush_all": CuptiError(999)})
    one = session(cupti)
    one.start()
    with pytest.raises(GpuError, match="doctor --gpu"):
        one.stop(lambda: None)
    assert not cupti.enabled
    assert cupti.subscribed == 0


def test_waiting_without_a_driver_does_nothing():
    asked = []

    def missing(name):
        asked.append(name)
        raise OSError(name)

    synchronize(missing)
    assert asked == ["libcuda.so.1"]


def test_the_real_bindings_where_they_are_installed():
    """Their numbers are those of the stand-in; without a driver they fail with a status."""
    cupti = pytest.importorskip("cupti.cupti")
    for kind in Kinds:
        assert int(getattr(cupti.ActivityKind, kind.name)) == int(kind)
    for name in ("subscribe", "subscribe_v2", "unsubscribe", "set_thread_id_type", "get_timestamp",
                 "activity_register_callbacks", "activity_enable", "activity_enable_and_dump",
                 "activity_disable",
                 "activity_flush_all", "activity_get_num_dropped_records", "get_callback_name",
                 "SubscriberParams", "SUBSCRIBER_PARAMS_SIZE"):  # fmt: skip
        assert hasattr(cupti, name), name
    assert int(cupti.ActivityThreadIdType.DEFAULT) == 0
    assert {"struct_size", "subscriber_name", "ptr", "old_subscriber_name"} <= set(
        dir(cupti.SubscriberParams)
    )
    for made, names in (
        (kernel(1, 2, 3), "Kernel"), (copy(1, 2, 3), "Memcpy"), (fill(1, 2, 3), "Memset"),
        (call(1, 2, 3), "API"), (overhead(1, 2), "Overhead"), (device(), "Device"),
    ):  # fmt: skip
        classes = [getattr(cupti, each) for each in dir(cupti)
                   if re.fullmatch(rf"Activity{names}\d*", each)]  # fmt: skip
        assert any(set(vars(made)) <= set(dir(each)) for each in classes), names
    status = probe()
    assert status.code in ("ok", "no_driver", "no_gpu", "driver_too_old", "busy", "privileges")

"""``tfprof doctor --gpu`` over a stand-in driver, and what becomes of its process."""

import ctypes
import json
import sys
import threading

import pytest

from tests.capture.cupti.stand_in import Cupti, CuptiError, call, copy, device, fill, kernel
from tfprof.capture.cupti.adapter import GpuSession
from tfprof.capture.cupti.cuda import driver_facts
from tfprof.capture.cupti.self_test import SelfTest, run_here, self_test
from tfprof.capture.cupti.status import Status, of_code
from tfprof.doctor.gpu_tracer import with_gpu_tracer
from tfprof.doctor.report import Report


class Driver:
    """``libcuda`` with one GPU that sets memory on request.

    Args:
        answers: What functions answer, by name; 0 for all others.
        gpus: Their compute capabilities.
    """

    def __init__(self, answers=None, gpus=((9, 0),)):
        self._answers, self._gpus = answers or {}, gpus
        self.called = []
        self._memory = 0

    def __call__(self, name):  # opens itself
        assert name == "libcuda.so.1"
        return self

    def __getattr__(self, name):
        if not name.startswith("cu"):
            raise AttributeError(name)

        def function(*arguments):
            self.called.append(name)
            answer = self._answers.get(name, 0)
            if not answer:
                getattr(self, f"_do_{name}", lambda *_: None)(*arguments)
            return answer

        function.__name__ = name
        return function

    def _write(self, target, value):
        target._obj.value = value

    def _do_cuDriverGetVersion(self, target):
        self._write(target, 13000)

    def _do_cuDeviceGetCount(self, target):
        self._write(target, len(self._gpus))

    def _do_cuDeviceGetAttribute(self, target, what, number):
        self._write(target, self._gpus[number][what - 75])

    def _do_cuDevicePrimaryCtxGetState(self, number, flags, is_active):
        self._write(is_active, 1)

    def _do_cuMemAlloc_v2(self, target, size):
        self._write(target, 4096)

    def _do_cuMemsetD8_v2(self, there, value, size):
        self._memory = value.value

    def _do_cuMemcpyDtoH_v2(self, here, there, size):
        ctypes.memset(here, self._memory, size.value)


def session(cupti):
    return GpuSession(lambda: cupti)


def test_a_gpu_that_works():
    own = threading.get_ident() & 0xFFFFFFFF
    cupti = Cupti(
        [device(), call(10, 20, 1, thread=own), copy(30, 40, 1), fill(50, 60, 2), kernel(70, 80, 3)]
    )
    driver = Driver()
    seen = run_here(session(cupti), driver)
    assert seen.status.code == "ok"
    assert seen.facts["driver's CUDA"] == "13.0"
    assert seen.facts["compute capabilities"] == "9.0"
    assert seen.facts["work"] == "done"
    assert seen.facts["recorded"] == "1 kernels, 1 copies, 1 fills, 1 calls, 0 overheads"
    assert seen.facts["calls found"] == "of 1 of 3 activities"
    assert seen.facts["calls of this thread"] == "1 of 1"
    assert seen.facts["GPUs"] == "NVIDIA A100-SXM4-40GB"
    assert "cuLaunchKernel" in driver.called
    for taken, given in (
        ("cuMemAlloc_v2", "cuMemFree_v2"),
        ("cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"),
        ("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2"),
    ):
        assert driver.called.count(taken) == driver.called.count(given) > 0
    assert not cupti.enabled and cupti.subscribed == 0


@pytest.mark.parametrize(
    ("answers", "gpus", "code"),
    [
        ({"cuInit": 100}, ((9, 0),), "no_gpu"),
        ({"cuInit": 999}, ((9, 0),), "driver_failed"),
        ({}, (), "no_gpu"),
        ({}, ((7, 0), (6, 1)), "unsupported"),
        ({}, ((7, 0), (7, 5)), None),
    ],
)
def test_what_the_driver_says(answers, gpus, code):
    problem = driver_facts(Driver(answers, gpus)).problem
    assert (problem and problem.code) == code


def test_a_library_that_is_not_a_driver():
    assert driver_facts(lambda name: object()).problem.code == "driver_failed"


def test_the_driver_says_why_cupti_fails():
    cupti = Cupti(fails={"subscribe_v2": CuptiError(15)})
    assert run_here(session(cupti), Driver({"cuInit": 100})).status.code == "no_gpu"
    assert run_here(session(cupti), Driver()).status.code == "not_initialized"


WORK = (device(), copy(30, 40, 1), fill(50, 60, 2), kernel(70, 80, 3))


def test_work_that_fails_is_reported():
    seen = run_here(session(Cupti([*WORK])), Driver({"cuModuleLoadData": 218}))
    assert seen.facts["work"] == "cuModuleLoadData answers 218"
    assert seen.status.code == "other"
    assert "the work of the self-test failed: cuModuleLoadData answers 218" in seen.status.message


def test_what_was_not_recorded_is_a_failure():
    broken = kernel(70, 80, 3)
    del broken.grid_x
    for wrong, said in (
        (WORK[1:], "did not record what the GPU is"), (WORK[:3], "no kernel with times"),
        ((*WORK[:2], WORK[3]), "no fill with times"), ((*WORK, broken), "1 records cannot be read"),
    ):  # fmt: skip
        status = run_here(session(Cupti(wrong)), Driver()).status
        assert (status.code, said in status.message) == ("other", True)
    wrong_copy = Driver()
    wrong_copy._do_cuMemsetD8_v2 = lambda *_: None
    assert "came back wrong" in run_here(session(Cupti(WORK)), wrong_copy).status.message


def test_cupti_that_fails_at_the_end():
    cupti = Cupti(fails={"activity_flush_all": CuptiError(35)})
    assert run_here(session(cupti), Driver()).status.code == "privileges"
    assert cupti.subscribed == 0


def test_a_process_that_crashes_hangs_or_talks():
    def of(code, **how):
        return self_test(command=(sys.executable, "-S", "-c", code), **how).status

    assert of("import os; os.abort()").code == "crashed"
    assert of("raise SystemExit(3)").code == "crashed"
    assert "boom" in of("raise ValueError('boom')").message
    assert of("input(); import time; time.sleep(60)").code == "crashed"  # it has no input
    assert of("import time; time.sleep(60)", seconds=0.2).code == "hangs"
    told = json.dumps({"status": {"code": "ok", "message": "it can", "remedy": ""}, "facts": {}})
    assert of(f"print('noise'); print({told!r})").code == "ok"
    assert of("print('[1]')").code == "crashed"
    assert self_test(command=("/no/such/program",)).status.code == "other"


def test_the_real_process():
    """On this machine, whatever it has: it answers, and with a remedy if it cannot record."""
    seen = self_test()
    assert seen.facts["Python"]
    assert seen.status.code == "ok" or seen.status.remedy
    assert seen.status.code not in ("crashed", "hangs", "other")


def test_doctor_tells_what_it_tried():
    [area] = with_gpu_tracer(Report(()), lambda: SelfTest(of_code("busy", "status 39"))).areas
    assert (area.checks[0].status, "status 39" in area.checks[0].message) == ("error", True)
    failed = SelfTest(of_code("other", "it recorded no kernel"), {"work": "done"})
    report = with_gpu_tracer(Report(()), lambda: failed)
    assert [check.status for check in report.areas[0].checks] == ["error", "error"]
    assert report.worst == "error"
    absent = SelfTest(of_code("bindings_missing", ""), {"Python": "3.11"})
    [area] = with_gpu_tracer(Report(()), lambda: absent).areas
    assert [check.status for check in area.checks] == ["note", "note"]
    works = SelfTest(Status("ok", "it can"), {"GPUs": "one"})
    [area] = with_gpu_tracer(Report(()), lambda: works).areas
    assert [check.status for check in area.checks] == ["ok", "ok"]
    assert "GPUs: one" in area.checks[1].message

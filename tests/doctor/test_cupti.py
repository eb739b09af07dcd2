import pytest

from tests.doctor.conftest import by_name
from tfprof.doctor import cupti

TOOLKIT = "/usr/local/cuda/extras/CUPTI/lib64"


@pytest.fixture
def gpu(machine):
    machine.gpu()
    machine.tensorflow()
    return machine


def test_without_a_gpu_nothing_is_reported(machine, facts):
    machine.tensorflow()
    machine.variables["LD_LIBRARY_PATH"] = "/nowhere"
    assert not list(cupti.check_cupti(facts()))
    assert not list(cupti.check_library_path(facts()))


def test_it_is_nowhere(gpu, facts):
    (check,) = cupti.check_cupti(facts())
    assert check.status == "error"
    assert check.message.startswith("libcupti.so.12 is not on this machine; ")
    assert check.command == "pip install nvidia-cuda-cupti-cu12"


def test_the_package_of_cuda_13_has_no_number_in_its_name(machine, facts):
    machine.gpu()
    machine.tensorflow(cuda="13.1")
    (check,) = cupti.check_cupti(facts())
    assert check.command == "pip install 'nvidia-cuda-cupti==13.*'"


def test_the_remedy_of_the_guide(gpu, facts):
    gpu.libcupti(TOOLKIT)
    (check,) = cupti.check_cupti(facts())
    assert check.status == "error"
    assert check.message.startswith(f"libcupti.so.12 is in {TOOLKIT}, which the loader does not")
    assert check.command == f"export LD_LIBRARY_PATH={TOOLKIT}"
    gpu.variables["LD_LIBRARY_PATH"] = "/opt/lib"
    (check,) = cupti.check_cupti(facts())
    assert check.command == f"export LD_LIBRARY_PATH={TOOLKIT}:$LD_LIBRARY_PATH"


def test_the_remedy_works(gpu, facts):
    gpu.libcupti(TOOLKIT)
    gpu.variables["LD_LIBRARY_PATH"] = TOOLKIT
    (check,) = cupti.check_cupti(facts())
    assert check.status == "ok"
    assert check.message == f"{TOOLKIT}/libcupti.so.12 (LD_LIBRARY_PATH), fits TensorFlow's CUDA 12"


def test_a_toolkit_where_cuda_home_points(gpu, facts):
    gpu.libcupti("/opt/my cuda/extras/CUPTI/lib64")
    gpu.variables["CUDA_HOME"] = "/opt/my cuda/"
    (check,) = cupti.check_cupti(facts())
    assert check.command == "export LD_LIBRARY_PATH='/opt/my cuda/extras/CUPTI/lib64'"


def test_the_order_of_the_loader(gpu, facts):
    gpu.libcupti("/cached")
    gpu.ldconfig("/cached")
    (check,) = cupti.check_cupti(facts())
    assert check.message.startswith("/cached/libcupti.so.12 (loader's cache)")
    wheel = gpu.site / "nvidia/cuda_cupti/lib"
    wheel.mkdir(parents=True)
    (wheel / "libcupti.so.12").write_text("ELF")
    (check,) = cupti.check_cupti(facts())
    assert check.message.startswith(f"{wheel}/libcupti.so.12 (pip package)")
    gpu.libcupti("/first")
    gpu.variables["LD_LIBRARY_PATH"] = "/nothing:/first:/cached"
    (check,) = cupti.check_cupti(facts())
    assert check.message.startswith("/first/libcupti.so.12 (LD_LIBRARY_PATH)")


def test_one_of_another_cuda(gpu, facts):
    gpu.libcupti("/old", major=11)
    gpu.variables["LD_LIBRARY_PATH"] = "/old"
    (check,) = cupti.check_cupti(facts())
    assert check.status == "error"
    assert check.message.startswith(
        "TensorFlow needs libcupti.so.12, but the loader finds /old/libcupti.so.11; "
    )


def test_two_of_them(gpu, facts):
    gpu.libcupti("/both", major=12)
    gpu.libcupti("/both", major=13)
    gpu.variables["LD_LIBRARY_PATH"] = "/both"
    found = by_name(cupti.check_cupti(facts()))
    assert found["libcupti"].status == "ok"
    assert found["other libcupti"].message.startswith("libcupti.so.13 can be loaded, too")


def test_without_tensorflow_any_will_do(machine, facts):
    machine.gpu()
    (check,) = cupti.check_cupti(facts())
    assert (check.status, check.command) == ("note", "pip install 'tensorflow[and-cuda]'")
    machine.libcupti("/lib", major=13)
    machine.variables["LD_LIBRARY_PATH"] = "/lib"
    (check,) = cupti.check_cupti(facts())
    assert (check.status, check.message) == ("ok", "/lib/libcupti.so.13 (LD_LIBRARY_PATH)")


def test_a_broken_link_is_not_a_library(gpu, facts):
    folder = gpu.root / "lib"
    folder.mkdir(parents=True)
    (folder / "libcupti.so.12").symlink_to(folder / "libcupti.so.2025")
    gpu.variables["LD_LIBRARY_PATH"] = "/lib"
    (check,) = cupti.check_cupti(facts())
    assert check.status == "error"


def test_a_cache_that_names_what_is_gone(gpu, facts):
    gpu.ldconfig("/gone")
    (check,) = cupti.check_cupti(facts())
    assert check.status == "error"


def test_folders_that_are_not_there(gpu, facts):
    gpu.variables["LD_LIBRARY_PATH"] = "/gone::relative:/gone"
    (check,) = cupti.check_library_path(facts())
    assert check.status == "note"
    assert check.message == "LD_LIBRARY_PATH names /gone, which does not exist"


def test_other_systems(gpu, facts):
    (check,) = cupti.check_cupti(facts(system="Windows"))
    assert check.status == "unknown"


def test_an_old_tensorflow_does_not_look_into_packages(machine, facts):
    machine.gpu()
    machine.tensorflow(cuda="11.8", version="2.13.1")
    wheel = machine.site / "nvidia/cuda_cupti/lib"
    wheel.mkdir(parents=True)
    (wheel / "libcupti.so.11.8").write_text("ELF")
    (check,) = cupti.check_cupti(facts())
    assert (check.status, check.command) == ("error", f"export LD_LIBRARY_PATH={wheel}")


def test_a_tensorflow_without_cuda_needs_none(machine, facts):
    machine.gpu()
    machine.tensorflow(cuda="", name="tensorflow-cpu")
    assert not list(cupti.check_cupti(facts()))

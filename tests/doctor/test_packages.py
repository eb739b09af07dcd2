import pytest

from tests.doctor.conftest import by_name
from tfprof.doctor import packages
from tfprof.doctor.environment import Environment


def test_all_is_there(machine, facts):
    machine.core()
    machine.package("graphviz", "0.21")
    machine.package("keras", "3.5.0")
    machine.tensorflow()
    machine.program("dot")
    found = facts()
    for check in (
        *packages.check_tfprof(found),
        *packages.check_core(found),
        *packages.check_protobuf(found),
        *packages.check_tensorflow(found),
        *packages.check_drawing(found),
        *packages.check_cupti_python(found),
    ):
        assert check.status == "ok", check
    named = [check.message for check in packages.check_tensorflow(found)]
    assert named == ["TensorFlow 2.21.0", "keras 3.5.0"]
    python = by_name(packages.check_tfprof(found))["python"]
    assert python.message == "Python 3.12.1 (Linux x86_64)"


def test_ranges_are_those_of_the_installed_tfprof(machine, facts):
    machine.package("tfprof", "1.0", "numpy>=1.23", "click>=8.1", 'graphviz>=0.20; extra == "x"')
    machine.package("numpy", "1.22.4")
    found = by_name(packages.check_core(facts()))
    assert set(found) == {"numpy", "click"}
    assert found["numpy"].status == "error"
    assert found["numpy"].message == "numpy 1.22.4 is installed; tfprof needs numpy>=1.23"
    assert found["numpy"].command == "pip install 'numpy>=1.23'"
    assert found["click"].message == "click is not installed, and tfprof needs it"
    assert found["click"].command == "pip install 'click>=8.1'"


def test_a_package_that_is_broken(machine, facts):
    machine.core()
    machine.import_problems["numpy"] = "ImportError: libopenblas.so.0: cannot open"
    found = by_name(packages.check_core(facts()))
    assert {name for name, check in found.items() if check.status == "error"} == {"numpy"}
    assert found["numpy"].message.endswith(
        " is installed, but cannot be imported (ImportError: libopenblas.so.0: cannot open)"
    )
    assert found["numpy"].command == "pip install --force-reinstall numpy"


def test_protobuf_that_can_not_be_imported_has_no_backend(machine, facts):
    machine.protobuf = ""
    assert list(packages.check_protobuf(facts())) == []


def test_why_an_import_fails(tmp_path, monkeypatch):
    for name, text in (
        ("tfprof_broken_a", "try:\n    import no_such_library\nexcept ImportError as error:\n"
         "    raise RuntimeError('a long story') from error\n"),
        ("tfprof_broken_b", "raise ValueError()"),
        ("tfprof_broken_c", "raise OSError('first\\nsecond')"),
    ):  # fmt: skip
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    why = Environment.current().import_problem
    assert why("tfprof_broken_a") == "ModuleNotFoundError: No module named 'no_such_library'"
    assert why("tfprof_broken_b") == "ValueError"
    assert why("tfprof_broken_c") == "OSError: first"
    assert why("json") == ""


def test_pure_python_protobuf(machine, facts):
    (check,) = packages.check_protobuf(facts(protobuf_implementation="python"))
    assert check.status == "warning"
    assert check.command.startswith("pip install --force-reinstall")
    machine.variables["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
    (check,) = packages.check_protobuf(facts(protobuf_implementation="python"))
    assert check.command == "unset PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"


def test_no_tensorflow(facts):
    (check,) = packages.check_tensorflow(facts())
    assert check.status == "note"
    assert check.command == "pip install 'tfprof[tf]'"


@pytest.mark.parametrize("name", ["tensorflow-cpu", "tf-nightly", "tensorflow-rocm"])
def test_tensorflow_under_other_names(machine, facts, name):
    machine.tensorflow(name=name)
    (check,) = packages.check_tensorflow(facts())
    assert (check.status, check.message) == ("ok", f"TensorFlow 2.21.0 ({name})")


def test_old_tensorflow(machine, facts):
    machine.package("tfprof", "1.0", 'tensorflow>=2.16; extra == "tf"')
    machine.tensorflow(version="2.9.1")
    (check,) = packages.check_tensorflow(facts())
    assert check.status == "note"
    assert "TensorFlow >=2.16" in check.message


def test_two_tensorflows(machine, facts):
    machine.tensorflow()
    machine.package("tensorflow-cpu", "2.20.0")
    check = by_name(packages.check_tensorflow(facts()))["tensorflow packages"]
    assert check.status == "warning"
    assert check.message == "tensorflow and tensorflow-cpu overwrite each other's files"
    assert check.command == "pip uninstall -y tensorflow tensorflow-cpu\npip install tensorflow"


def test_the_two_packages_of_windows_do_not_conflict(machine, facts):
    machine.tensorflow()
    machine.package("tensorflow-intel", "2.21.0")
    assert [check.status for check in packages.check_tensorflow(facts())] == ["ok"]


def test_the_server_of_pages(machine, facts):
    (check,) = packages.check_web(facts())
    assert (check.status, check.command) == ("note", "pip install 'tfprof[web]'")
    machine.package("starlette", "1.10.0")
    machine.package("uvicorn", "0.54.0")
    assert [check.status for check in packages.check_web(facts())] == ["ok", "ok"]


def test_calls_of_profiler_servers(machine, facts):
    (check,) = packages.check_remote(facts())
    assert (check.status, check.command) == ("note", "pip install 'tfprof[remote]'")
    machine.package("grpcio", "1.85.1")
    assert [check.status for check in packages.check_remote(facts())] == ["ok"]


def test_files_of_other_machines(machine, facts):
    (check,) = packages.check_remote_files(facts())
    assert (check.status, check.command) == ("note", "pip install 'tfprof[remote]'")
    machine.package("fsspec", "2026.9.0")
    machine.package("aiohttp", "3.14.5")
    assert [check.status for check in packages.check_remote_files(facts())] == ["ok", "ok"]


def test_tensorflow_without_its_module(machine, facts):
    machine.package("tensorflow", "2.21.0")
    (check,) = packages.check_tensorflow(facts())
    assert check.status == "warning"
    assert "its module is missing" in check.message


def test_tensorflow_without_metadata(machine, facts):
    machine.tensorflow()
    (machine.site / "tensorflow-2.21.0.dist-info/METADATA").unlink()
    (machine.site / "tensorflow-2.21.0.dist-info").rmdir()
    (check,) = packages.check_tensorflow(facts())
    assert check.status == "ok"
    assert "of unknown version" in check.message


def test_drawing(machine, facts):
    (check,) = packages.check_drawing(facts())
    assert (check.status, check.command) == ("note", "pip install 'tfprof[graphviz]'")
    machine.package("graphviz", "0.20")
    check = by_name(packages.check_drawing(facts()))["dot"]
    assert (check.status, check.command) == ("note", "sudo apt-get install graphviz")


def test_cupti_python_is_for_gpus(machine, facts):
    assert not list(packages.check_cupti_python(facts()))
    machine.gpu()
    (check,) = packages.check_cupti_python(facts())
    assert (check.status, check.command) == ("note", "pip install 'tfprof[gpu]'")
    machine.package("tfprof", "1.0", 'cupti-python>=13.0; extra == "gpu"')
    machine.package("cupti-python", "12.8.0")
    (check,) = packages.check_cupti_python(facts())
    assert check.status == "warning"


def test_a_damaged_installation_is_passed_over(machine, facts):
    folder = machine.site / "broken-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_bytes(b"\xff\xfe nothing")
    (machine.site / "bare-1.0.dist-info").mkdir()
    machine.core()
    assert "numpy" in facts().packages


def test_the_reader_is_native_pure_or_turned_off(machine, facts):
    (check,) = packages.check_reader(facts())
    assert (check.status, check.message) == ("ok", "native reader")
    (check,) = packages.check_reader(facts(has_native_reader=False))
    assert check.status == "note"
    assert check.message.startswith("the native reader was not built")
    assert "pip install" in check.command
    machine.variables["TFPROF_PURE"] = "1"
    (check,) = packages.check_reader(facts())
    assert (check.status, check.command) == ("note", "unset TFPROF_PURE")

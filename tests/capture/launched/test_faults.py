"""A failing profiler, and what else a program does, never end or change the program."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.capture.launched import programs
from tests.capture.launched.conftest import ROOT, environment
from tfprof.files.hooked_processes import STATE_FOLDER, processes, stacks_of

LOOP = """
import os, sys, time
import jax
import jax.numpy as jnp

step = jax.jit(lambda x: jnp.tanh(x @ x))
x = jnp.ones((50, 50))

def steps(n, pause=0.0):
    for _ in range(n):
        step(x).block_until_ready()
        time.sleep(pause)
"""
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def until(holds, seconds=120):
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


@pytest.mark.parametrize("spec", ["logs;steps=9:1", ";;", "logs;when=step_time >"])
def test_a_wrong_variable_is_one_line_and_the_program_runs(run_hooked, tmp_path, spec):
    (tmp_path / "jax.py").write_text("there = True")  # stands for the package, which is slow
    (tmp_path / "keras.py").write_text("there = True")
    ran = run_hooked("import jax, keras; print(jax.there)", spec)
    assert (ran.code, ran.out) == (0, "True\n")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("tfprof run: TFPROF_RUN is wrong, so nothing is captured:")


def test_a_look_for_a_framework_before_its_import(run_hooked, tmp_path):
    (tmp_path / "jax.py").write_text("")
    look = "import importlib.util; importlib.util.find_spec('jax'); importlib.util.find_spec('jax')"
    assert run_hooked(look, "logs;steps=9:1").err == ""
    ran = run_hooked(look + "; import jax; print(jax.__loader__.exec_module)", "logs;steps=9:1")
    assert ran.err.count("TFPROF_RUN is wrong") == 1 and "_LoaderBasics" in ran.out


def test_a_framework_that_fails_to_import_fails_as_it_would(run_hooked, tmp_path):
    (tmp_path / "jax.py").write_text("raise ImportError('broken wheel')")
    ran = run_hooked("import jax", "logs")
    assert ran.code == 1 and "ImportError: broken wheel" in ran.err
    assert "tfprof run" not in ran.err


def test_the_sitecustomize_of_the_user_runs(run_hooked, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("print('own')")
    places = os.pathsep.join([str(ROOT), str(tmp_path / "own")])
    ran = run_hooked("import sitecustomize; print(sitecustomize.__file__)", "logs",
                     PYTHONPATH=places)  # fmt: skip
    assert ran.out.splitlines()[0] == "own"
    assert Path(ran.out.splitlines()[1]) == tmp_path / "own" / "sitecustomize.py"


@pytest.mark.jax
@pytest.mark.slow
def test_a_log_folder_that_cannot_be_written_is_named_once(run, tmp_path):
    (tmp_path / "logs").write_text("a file")
    ran = run(LOOP + "steps(40); print('done')")
    assert (ran.code, ran.out) == (0, "done\n")
    assert f"{tmp_path / 'logs'}" in ran.err and "no capture can be written there" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_the_profiler_and_the_server_of_the_program_come_first(run):
    ran = run(LOOP + """
steps(15)
time.sleep(1)
with jax.profiler.trace("own"):
    steps(3)
import socket
with socket.create_server(("", 0)) as free:
    port = free.getsockname()[1]
jax.profiler.start_server(port)
import tfprof
with tfprof.capture("logs_own"):
    steps(3)
print(os.path.isdir("own/plugins"), os.path.isdir("logs_own/plugins"))
""", "--server")  # fmt: skip
    assert (ran.code, ran.out) == (0, "True True\n")
    assert ran.err.count("calls jax.profiler.start_trace itself") == 1
    assert ran.steps() == [10, 11, 12, 13, 14]


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_a_program_that_records_itself_is_not_captured_then(run):
    ran = run(LOOP + """
jax.profiler.start_trace("own")
steps(40)
jax.profiler.stop_trace()
print("done")
""")  # fmt: skip
    assert (ran.code, ran.out, ran.runs) == (0, "done\n", [])
    assert "this process is being recorded already" in ran.err


@posix
@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_forks_and_the_end_of_a_process_without_python(run):
    ran = run(LOOP + """
import warnings
warnings.simplefilter("ignore")
steps(12)
pid = os.fork()
if not pid:
    os._exit(5)
_, status = os.waitpid(pid, 0)
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(sum(pool.map(abs, [-1, -2])), os.waitstatus_to_exitcode(status), flush=True)
os._exit(9)
""")  # fmt: skip
    assert (ran.code, ran.out) == (9, "3 5\n")
    assert "ended during a capture, which is lost" in ran.err
    assert not (ran.logdir / STATE_FOLDER).exists()


@posix
@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_children_of_fork_that_compute_are_processes_of_their_own(run):
    ran = run("""
import multiprocessing
import warnings
import jax
import jax.numpy as jnp

warnings.simplefilter("ignore")
step = jax.jit(lambda x: jnp.tanh(x @ x))

def work():
    x = jnp.ones((50, 50))
    for _ in range(12):
        step(x).block_until_ready()

context = multiprocessing.get_context("fork")
workers = [context.Process(target=work) for _ in range(2)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print([worker.exitcode for worker in workers])
""", "--steps", "5:8")  # fmt: skip
    assert (ran.code, ran.out) == (0, "[0, 0]\n")
    [folder] = ran.runs
    hosts = [path.name.removesuffix(".xplane.pb") for path in folder.glob("*.xplane.pb")]
    assert len(hosts) == 2 and all(ran.steps(host) == [5, 6, 7, 8] for host in hosts)
    assert not (ran.logdir / STATE_FOLDER).exists()


@posix
@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_a_full_disk_loses_the_capture_and_nothing_else(run):
    ran = run(LOOP + """
import resource
steps(5)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
steps(40)
print("done")
""")  # fmt: skip
    assert (ran.code, ran.out, ran.runs) == (0, "done\n", [])
    assert "make sure that the disk has room" in ran.err and "Traceback" not in ran.err


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_a_missing_package_of_the_recorder_is_named(run_hooked, tmp_path):
    (tmp_path / "grpc.py").write_text("raise ImportError('none')")
    ran = run_hooked(LOOP + "steps(30); time.sleep(1); print('done')",
                     "logs;when=step_time > 1s")  # fmt: skip
    assert (ran.code, ran.out, ran.runs) == (0, "done\n", [])
    assert "pip install 'tfprof[remote]'" in ran.err


@posix
@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_a_program_that_replaces_itself_during_a_capture(run):
    ran = run(LOOP + """
if len(sys.argv) > 1:
    steps(40)
    sys.exit(4)
steps(12)
os.execv(sys.executable, [sys.executable, __file__, "again"])
""")  # fmt: skip
    assert ran.code == 4 and "replaced itself (os.exec) during a capture" in ran.err
    assert ran.steps() == list(range(10, 30))


@posix
@pytest.mark.jax
@pytest.mark.slow
def test_sigterm_saves_what_there_is_and_the_process_is_visible(start, tmp_path):
    child = start(LOOP + "print('ready', flush=True); steps(10**6, 0.01)", "--steps", "10:100000",
                  "--server")  # fmt: skip
    assert child.stdout.readline() == "ready\n"
    state = tmp_path / "logs" / STATE_FOLDER
    [process] = until(
        lambda: [each for each in processes(state) if each.is_capturing and each.port]
    )
    assert process.framework == "jax" and process.is_alive and process.rank is None
    assert "steps" in stacks_of(process, 60)
    child.terminate()
    _, err = child.communicate(timeout=120)
    assert child.returncode == 128 + signal.SIGTERM
    assert "run: logs/plugins/profile/" in err and not state.exists()


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_no_thread_of_tfprof_lives_when_the_interpreter_ends(run):
    """Python aborts the process for one that comes back from C++ then."""
    ran = run("""
import atexit, threading, time
atexit.register(lambda: print([each.name for each in threading.enumerate()]))
import jax
jax.devices()
time.sleep(0.12)  # its server starts now
""", "--server")  # fmt: skip
    assert ran.code == 0 and "tfprof-run" not in ran.out


@posix
@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_sigterm_ends_a_program_that_waits_in_c(start):
    child = start(LOOP + """
steps(20)
print("ready", flush=True)
import ctypes
library, lock = ctypes.CDLL(None), ctypes.create_string_buffer(256)
library.pthread_mutex_lock(lock)
library.pthread_mutex_lock(lock)
""")  # fmt: skip
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.terminate()
    _, err = child.communicate(timeout=60)
    assert child.returncode == 128 + signal.SIGTERM
    assert "run: logs/plugins/profile/" in err


@posix
@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_ctrl_c_is_the_programs_and_saves_what_there_is(start, tmp_path):
    program = (
        LOOP
        + """
try:
    print("ready", flush=True)
    steps(10**6, 0.01)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(3)
"""
    )
    child = start(program, "--steps", "10:100000")
    state = tmp_path / "logs" / STATE_FOLDER
    assert child.stdout.readline() == "ready\n"
    until(lambda: [each for each in processes(state) if each.is_capturing])
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert (child.returncode, out) == (3, "interrupted\n")
    assert "run: logs/plugins/profile/" in err


@posix
def test_ctrl_c_twice_ends_a_program_that_ignores_it(start):
    child = start("""
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
""")
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == 128 + signal.SIGKILL


@posix
@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_windows_by_time_and_on_request(start, tmp_path):
    child = start(LOOP + "print('ready', flush=True); steps(10**6, 0.01)", "--every", "1s",
                  "--key", "--length", "3", "--most-runs", "2")  # fmt: skip
    profiles = tmp_path / "logs" / "plugins" / "profile"
    assert child.stdout.readline() == "ready\n"
    until(lambda: len(list(profiles.glob("*"))) >= 2)
    child.send_signal(signal.SIGUSR1)
    [run] = until(lambda: list(profiles.glob("*_key1")))
    child.terminate()
    child.communicate(timeout=120)
    import tfprof

    [file] = run.glob("*.xplane.pb")
    assert len(tfprof.Profiler.from_xspace(str(file)).steps) == 3


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_the_first_slow_step_is_written(run):
    pytest.importorskip("grpc")
    ran = run(LOOP + """
for number in range(100):
    steps(1, 1.5 if number == 60 else 0.05)
""", "--when", "step_time > 900ms")  # fmt: skip
    assert ran.code == 0 and len(ran.runs) == 1, ran.err
    assert "step 61 took" in ran.err


def test_a_program_that_cannot_be_started_is_an_error(tmp_path):
    for name, code in (("no_such_program", 127), (str(tmp_path), 126)):
        words = [sys.executable, "-m", "tfprof", "run", "--", name]
        done = subprocess.run(
            words, env=environment(), capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == code and name in done.stderr


@posix
@pytest.mark.parametrize("name", ["none", "a;b"])
def test_a_program_runs_without_a_temporary_folder(start, tmp_path, monkeypatch, name):
    (tmp_path / "a;b").mkdir()
    code = (
        "import sys, tempfile; tempfile.tempdir = sys.argv.pop(1); "
        "sys.argv[0] = 'tfprof'; from tfprof.cli.main import main; main()"
    )
    words = [sys.executable, "-c", code, str(tmp_path / name), "run", "--", sys.executable]
    words += ["-c", "print('done'); raise SystemExit(4)"]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, "done\n"), done.stderr
    assert "no temporary file" in done.stderr and "TMPDIR" in done.stderr
    assert "no process of the program imported" not in done.stderr


@posix
def test_the_current_folder_is_removed(tmp_path):
    (tmp_path / "here").mkdir()
    program = (
        "import os, sys; os.rmdir(os.getcwd())\n"
        "from tfprof.cli.commands.run import _short; print(_short('/logs/run'))\n"
        "sys.argv = ['tfprof', 'run', *sys.argv[1:], sys.executable, '-c', 'print(5)']\n"
        "from tfprof.cli.main import main; main()"
    )
    for options, code in ((["--logdir", str(tmp_path / "logs")], 0), ([], 2)):
        (tmp_path / "here").mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", program, *options], env=environment(), capture_output=True,
            text=True, cwd=tmp_path / "here",
        )  # fmt: skip
        assert done.returncode == code and done.stdout.startswith("/logs/run\n"), done.stderr
        assert "Traceback" not in done.stderr
        assert "give --logdir with a full path" in done.stderr if code else "5" in done.stdout


def test_the_command_within_itself(tmp_path):
    inner = [sys.executable, "-m", "tfprof", "run", "--", sys.executable, "-c", "print('done')"]
    words = [*inner[:5], *inner]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr.count("no process of the program imported") == 1  # by the inner one
    assert "the program runs 'tfprof run' itself" in done.stderr


def test_what_is_wrong_is_an_error_before_the_program_starts(tmp_path):
    words = [sys.executable, "-m", "tfprof", "run", "--steps", "4:2", "--", "touch", "made"]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and "steps='4:2'" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_options_of_the_program_are_its_own(run):
    ran = run("import json, sys; print(json.dumps(sys.argv[1:]))")
    assert json.loads(ran.out) == []
    words = [
        sys.executable,
        "-m",
        "tfprof",
        "run",
        "--steps",
        "1:2",
        "--no-overview",
        sys.executable,
        "-c",
        "import sys; print(sys.argv[1:])",
        "--steps",
        "9",
        "--",
        "-x",
    ]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True,
                          cwd=ran.logdir.parent)  # fmt: skip
    assert done.stdout == "['--steps', '9', '--', '-x']\n"


def test_the_exit_code_and_both_streams_are_the_programs(run):
    ran = run(programs.NO_FRAMEWORK)
    assert (ran.code, ran.out) == (7, "out\n") and "err\n" in ran.err


@pytest.mark.jax
@pytest.mark.slow
@pytest.mark.thorough
def test_without_a_slow_step_the_reason_is_that_there_was_none(run):
    pytest.importorskip("grpc")
    ran = run(LOOP + "steps(60, 0.05)", "--when", "step_time > 3600s")
    assert ran.runs == [] and ran.code == 0
    assert re.search(
        r"for none of the [1-9]\d* steps that were recorded, step_time > 3600s", ran.err
    )

"""Device memory profiles of JAX: who made the arrays on devices, and what came between two."""

import gzip
import subprocess
import sys

import pytest

import tfprof
from tfprof.core.wire import messages as pb
from tfprof.errors import MalformedProfileError, UnknownFormatError, UsageError
from tfprof.files.pprof import stacks_of_pprof
from tfprof.inputs.open_paths import open_paths
from tfprof.ui.pages.site import Site

pytestmark = pytest.mark.one_engine

JAX = "/env/lib/python3.11/site-packages/jax/_src"
LOAD = [(f"{JAX}/api.py", "device_put", 9), ("train.py", "load", 7), ("train.py", "<module>", 20)]
STEP = [
    (f"{JAX}/dispatch.py", "apply_primitive", 88), (f"{JAX}/lax.py", "full", 3),
    ("train.py", "step", 12), ("train.py", "<module>", 21),
]  # fmt: skip
MIB = 1 << 20


def profile(path, *samples, types=(("allocations", "count"), ("space", "bytes"))):
    """Write samples: stack with the innermost frame first, kind, device, number, bytes."""
    made = pb.Profile()
    texts = {"": 0}

    def text(words):
        return texts.setdefault(words, len(texts))

    for name, unit in types:
        made.sample_type.add(type=text(name), unit=text(unit))
    for stack, kind, device, n, n_bytes in samples:
        sample = made.sample.add(value=[n, n_bytes])
        for file, function, line in stack:
            number = len(made.location) + 1
            made.function.add(id=number, name=text(function), filename=text(file))
            made.location.add(id=number).line.add(function_id=number, line=line)
            sample.location_id.append(number)
        for key, value in (("kind", kind), ("device", device)):
            if value:
                sample.label.add(key=text(key), str=text(value))
    made.string_table.extend(texts)
    path.write_bytes(gzip.compress(made.SerializeToString()))
    return path


@pytest.fixture
def before(tmp_path):
    """A table sharded over two devices, and a program."""
    return profile(
        tmp_path / "before.prof",
        (LOAD, "buffer", "gpu:0", 1, 4 * MIB),
        (LOAD, "buffer", "gpu:1", 1, 4 * MIB),
        (LOAD, "executable", "", 1, 0),
    )


@pytest.fixture
def after(tmp_path):
    """The same table, and three arrays of a step more."""
    return profile(
        tmp_path / "after.prof",
        (LOAD, "buffer", "gpu:0", 1, 4 * MIB),
        (LOAD, "buffer", "gpu:1", 1, 4 * MIB),
        (STEP, "buffer", "gpu:0", 2, 4 * MIB),
        (STEP[1:], "buffer", "gpu:0", 1, 2 * MIB),
        ([], "buffer", "gpu:0", 1, 8),
    )


def test_arrays_belong_to_the_users_innermost_line(after):
    lines = tfprof.device_memory(after).table("lines")
    assert [row[:3] for row in lines.rows] == [
        ("train.py:7", "load", 8 * MIB),
        ("train.py:12", "step", 6 * MIB),
        ("(no call stack)", "", 8),
    ]
    assert lines.column("arrays") == [2, 3, 1]
    assert lines.column("devices") == [2, 1, 1]
    assert lines.column("largest_bytes") == [4 * MIB, 2 * MIB, 8]


def test_devices_have_the_shards_that_lie_on_them(after):
    devices = tfprof.device_memory(after).table("devices")
    assert [row[:2] for row in devices.rows] == [("gpu:0", 10 * MIB + 8), ("gpu:1", 4 * MIB)]
    assert devices.column("arrays") == [5, 1]


def test_code_of_programs_of_which_jax_states_0_bytes_is_unknown(before):
    result = tfprof.device_memory(before)
    assert result.table("programs").rows == [("train.py:7", "load", 1, None)]
    assert "8.39 MB (2 arrays) on 2 devices" in result.verdict[0]


def test_a_profile_without_arrays_says_so(tmp_path):
    result = tfprof.device_memory(profile(tmp_path / "nothing.prof"))
    assert result.verdict == ("The profile names no array.",)


def test_difference_is_by_line_and_says_what_may_be_older(before, after):
    result = tfprof.diff(before, after)
    assert result.table().to_rows()[0] == {
        "line": "train.py:12", "function": "step", "bytes_difference": 6 * MIB,
        "bytes_before": 0, "bytes_after": 6 * MIB, "arrays_before": 0, "arrays_after": 3,
        "new_bytes": 6 * MIB, "kept_bytes": 0,
    }  # fmt: skip
    assert result.verdict[0] == "Arrays hold 6.29 MB more: 8.39 MB before, 14.7 MB after."
    assert "train.py:12 in step made grew most: by 6.29 MB, from 0 arrays to 3" in result.verdict[1]
    assert result.verdict[2].startswith("At most 8.39 MB of what is there after was there before")


def test_arrays_of_another_size_are_new_even_if_their_number_stays(tmp_path, before):
    replaced = profile(tmp_path / "replaced.prof", (LOAD, "buffer", "gpu:0", 1, 2 * MIB))
    [row] = tfprof.diff(before, replaced).table().to_rows()
    assert (row["new_bytes"], row["kept_bytes"]) == (2 * MIB, 0)


def test_lines_that_moved_are_named(tmp_path, before):
    moved = [(file, name, line + 1) for file, name, line in LOAD]
    other = profile(tmp_path / "moved.prof", (moved, "buffer", "gpu:0", 1, MIB))
    assert "its lines have moved" in tfprof.diff(before, other).notes[0].message


def test_other_pprof_profiles_are_refused(tmp_path, before):
    types = (("samples", "count"), ("cpu", "nanoseconds"))
    other = profile(tmp_path / "cpu.prof", (LOAD, "", "", 1, 10), types=types)
    for ask in (lambda: tfprof.device_memory(other), lambda: tfprof.diff(before, other)):
        with pytest.raises(UnknownFormatError, match="samples in count, cpu in nanoseconds"):
            ask()
    with pytest.raises(UsageError, match="no views"):
        tfprof.diff(before, before, view="scope")
    with pytest.raises(UsageError, match="Profiler cannot be compared"):
        tfprof.diff(before, tfprof.Profiler(tfprof.demo_files().graph))


def test_the_difference_of_two_profiles_is_not_read_as_one(call, tmp_path, before, after):
    target = tmp_path / "difference.pb.gz"
    assert call("diff", before, after, "-o", target).exit_code == 0
    stacks = stacks_of_pprof(target.read_bytes(), "difference")
    assert stacks.values[1].sum() == 6 * MIB + 8
    with pytest.raises(UnknownFormatError, match="or is the difference of two"):
        tfprof.device_memory(target)


def test_damaged_profiles_are_errors(tmp_path, before):
    damaged = tmp_path / "damaged.prof"
    damaged.write_bytes(before.read_bytes()[:-20])
    with pytest.raises((MalformedProfileError, UnknownFormatError)):
        tfprof.device_memory(damaged)


def test_commands_and_pages_show_them(call, before, after):
    assert "train.py:12" in call("memory", after).stdout
    assert "6.29 MB more" in call("diff", before, after).stdout
    assert "no step" in call("memory", after, "--step", "3").stderr
    assert "compares two" in call("memory", before, after).stderr
    site = Site(open_paths([before, after]))
    assert [page["id"] for page in site.to_dict()["pages"]] == ["memory", "stacks", "compare"]
    for page in ("memory", "stacks", "compare"):
        assert "train.py:7" in str(site.page(page, {}).to_dict())


PROGRAM = """
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, jax.numpy as jnp, numpy as np
kept = []
def load():
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    kept.append(jax.device_put(np.ones((4096, 16), np.float32), rows))
def step():
    kept.append(jnp.full((256, 1024), 1.0))
load()
jax.profiler.save_device_memory_profile(sys.argv[1])
for _ in range(5): step()
jax.profiler.save_device_memory_profile(sys.argv[2])
"""


@pytest.mark.jax
def test_arrays_of_a_real_program_are_found_to_the_byte(tmp_path):
    """JAX itself: 256 KiB over two devices; then five arrays of 1 MiB, which are never freed."""
    pytest.importorskip("jax")
    source, *paths = (tmp_path / name for name in ("program.py", "before.prof", "after.prof"))
    source.write_text(PROGRAM)
    subprocess.run([sys.executable, source, *paths], check=True, timeout=200)
    rows = {row["function"]: row for row in tfprof.diff(*paths).table().to_rows()}
    assert (rows["load"]["bytes_before"], rows["load"]["bytes_after"]) == (1 << 18, 1 << 18)
    assert (rows["load"]["arrays_after"], rows["load"]["kept_bytes"]) == (2, 1 << 18)
    assert (rows["step"]["bytes_difference"], rows["step"]["new_bytes"]) == (5 * MIB, 5 * MIB)
    assert rows["step"]["line"] == f"{source}:11"

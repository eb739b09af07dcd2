import csv
import io
import json
import shutil
import struct

import pytest
from click.testing import CliRunner

from tests.files.checkpoint.recorded.make import FOLDER, NUMBERS
from tests.files.checkpoint.tables import entry, strings, write_bundle
from tfprof.cli.commands.checkpoint import command
from tfprof.errors import InputError, MalformedProfileError, UsageError
from tfprof.files.checkpoint.checkpoint import OBJECT_GRAPH


def run(*words):
    """What is written; errors of ours come as they are, the main command makes lines of them."""
    result = CliRunner().invoke(command, list(map(str, words)), standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.output


TABLE = """\
variable      in the program  type      shape  values  size    min    max   mean  std dev  zeros
────────────────────────────────────────────────────────────────────────────────────────────────
model/bias    dense/bias      float32       3       3  12 B      0      0      0        0      3
model/kernel  dense/kernel    float32     2x3       6  24 B  0.333  0.333  0.333        0      0
step          step            int64    scalar       1   8 B      7      7      7        0      0

3 variables, 10 values, 44 B
"""


def test_the_table():
    assert run(FOLDER / "objects") == TABLE


def test_every_line_fits_into_100_columns():
    for name in ("types", "types.v1", "sharded-12", "old-3"):
        assert max(map(len, run(FOLDER / name).splitlines())) <= 100


def test_what_is_not_finite_has_columns_of_its_own():
    lines = run(FOLDER / "types", "float64", "float32").splitlines()
    assert lines[0].split()[-2:] == ["NaN", "Inf"]
    assert lines[2].split()[-2:] == ["0", "1"]  # float32
    assert lines[3].split()[-2:] == ["1", "0"]
    assert "NaN" not in run(FOLDER / "types", "int32")


def test_without_statistics_no_values_are_read(tmp_path):
    for suffix in (".index", ".data-00000-of-00001"):
        shutil.copy(FOLDER / f"types{suffix}", tmp_path)
    (tmp_path / "types.data-00000-of-00001").write_bytes(b"")
    lines = run(tmp_path / "types", "--no-stats").splitlines()
    assert lines[0].split() == ["variable", "type", "shape", "values", "size"]
    assert lines[-1] == "26 variables, 101 values, 529 B"
    with pytest.raises(MalformedProfileError, match=r"types\.data.*: cut off"):
        run(tmp_path / "types")


def test_damage_is_an_error_or_else_a_note(tmp_path, capsys):
    data = struct.pack("<2f", 1.0, 2.0)
    sound, damaged = entry(1, [], data[:4]), entry(1, [], data[4:], offset=4)
    write_bundle(tmp_path / "m", {"a": sound, "b": damaged}, data[:4] + b"oops")
    with pytest.raises(MalformedProfileError, match=r"^b: .*checksum.*--recover shows the"):
        run(tmp_path / "m")
    words = [str(tmp_path / "m"), "--recover", "--format", "json"]
    command.main(words, standalone_mode=False)
    shown, told = capsys.readouterr()
    assert [row["maximum"] for row in json.loads(shown)["rows"]] == [1.0, None]
    assert "b: left out: " in told


def test_damaged_names_are_an_error_or_else_a_note(tmp_path, capsys):
    stored, checked = strings(b"\xff\xff")
    names = entry(7, [], stored, checked=checked)
    write_bundle(tmp_path / "m", {"a": entry(1, [], b"", len(stored)), OBJECT_GRAPH: names}, stored)
    with pytest.raises(MalformedProfileError, match=r"OBJECT_GRAPH.*--recover shows the variables"):
        run(tmp_path / "m")
    command.main([str(tmp_path / "m"), "--recover", "--no-stats"], standalone_mode=False)
    shown, told = capsys.readouterr()
    assert shown.splitlines()[2].split()[:2] == ["a", "float32"]
    assert "the names of variables in the program are unknown: " in told


def test_names_and_expressions():
    def names(*words):
        rows = json.loads(run(FOLDER / "types", *words, "--format", "json", "--no-stats"))["rows"]
        return [row["name"] for row in rows]

    assert names("bool", "u?int8") == ["bool", "int8", "uint8"]
    assert names("float8.*", "bool", "bool") == ["bool", "float8_e4m3fn", "float8_e5m2"]
    assert names("--sort", "size")[:3] == ["string", "complex128", "complex64"]
    lines = run(FOLDER / "objects", "dense/.*", "--no-stats").splitlines()
    assert lines[-1] == "2 of 3 variables, 9 values, 36 B"
    assert names("(bool)?") == ["bool"]
    with pytest.raises(UsageError, match=r"no variable has or matches 'float'; did you mean "):
        names("float")
    with pytest.raises(UsageError, match="regular expression"):
        names("(")


def test_json():
    found = json.loads(run(FOLDER / "objects", "--format", "json"))
    rows = found.pop("rows")
    assert found == {
        "path": str(FOLDER / "objects"),
        "format": "V2",
        "n_variables": 3,
        "missing_files": [],
    }
    assert rows[2] == {
        "name": "step/.ATTRIBUTES/VARIABLE_VALUE", "full_name": "step", "dtype": "int64",
        "shape": [], "n_values": 1, "n_bytes": 8, "minimum": 7, "maximum": 7, "mean": 7.0,
        "standard_deviation": 0.0, "n_zeros": 0, "n_nan": 0, "n_infinite": 0,
    }  # fmt: skip


def test_csv():
    rows = list(csv.DictReader(io.StringIO(run(FOLDER / "types.v1", "--format", "csv"))))
    by_name = {row["name"]: row for row in rows}
    assert by_name["parts"]["shape"] == "10x6"
    assert by_name["parts"]["maximum"] == "95.0"
    assert by_name["string"]["n_bytes"] == by_name["string"]["minimum"] == ""


def test_values_in_full():
    assert run(FOLDER / "objects", "dense/kernel", "step", "--values") == (
        "model/kernel (float32, 2x3)\n"
        "[[0.33333334, 0.33333334, 0.33333334],\n"
        " [0.33333334, 0.33333334, 0.33333334]]\n"
        "\n"
        "step (int64)\n"
        "7\n"
    )


def test_values_in_full_however_many(tmp_path):
    data = b"".join(number.to_bytes(4, "little") for number in range(6000))
    write_bundle(tmp_path / "m", {"v": entry(3, [2, 1, 3000], data)}, data)
    text = run(tmp_path / "m", "v", "--values")
    assert json.loads(text.partition("\n")[2]) == [
        [list(range(3000))], [list(range(3000, 6000))],
    ]  # fmt: skip
    assert max(map(len, text.splitlines())) <= 100


def test_values_as_json_and_csv():
    found = json.loads(run(FOLDER / "types", ".*", "--values", "--format", "json"))["rows"]
    values = {row["name"]: row["values"] for row in found}
    assert values["float32"] == [[0.1, -1e-9], ["inf", 3.0]]
    assert values["float64"] == [[0.1, -1e-300], ["nan", 3.0]]
    assert values["bool"] == [[True, False], [True, True]]
    assert values["uint64"] == [[0, 1], [2, 2**64 - 1]]
    assert values["complex64"] == [["0.0+0.0j", "1.0+2.0j"], ["-0.0-0.5j", "3.0+0.0j"]]
    assert values["string"][1:] == [["two words"], ["\\xff\x00" * 80], ["größe"]]
    assert values["scalar"] == 5
    assert [number for row in values["bfloat16"] for number in row] == NUMBERS["bfloat16"]
    rows = list(csv.reader(io.StringIO(
        run(FOLDER / "types", "int8", "scalar", "--values", "--format", "csv")
    )))  # fmt: skip
    assert rows == [
        ["name", "index", "value"], ["int8", "0,0", "-128"], ["int8", "0,1", "0"],
        ["int8", "1,0", "1"], ["int8", "1,1", "127"], ["scalar", "", "5"],
    ]  # fmt: skip


def test_values_need_a_name():
    with pytest.raises(UsageError, match="--values needs the NAME"):
        run(FOLDER / "objects", "--values")


def test_unreadable_files_are_listed(tmp_path):
    write_bundle(tmp_path / "m", {"v": entry(21, [], b"xyz"), "w": entry(4, [], b"x")}, b"xyz")
    lines = run(tmp_path / "m").splitlines()
    assert lines[2].split() == ["v", "variant", "scalar", "1", "3", "B", *"––––", "–"]
    assert "only the code that wrote it can read it" in run(tmp_path / "m", "v", "--values")


def test_missing_files_are_reported(tmp_path, capsys):
    shutil.copy(FOLDER / "types.index", tmp_path)
    result = CliRunner().invoke(command, [str(tmp_path)], standalone_mode=False)
    told = " ".join((result.output + getattr(result, "stderr", "")).split())
    assert "a file of the checkpoint is missing:" in told
    assert "types.data-00000-of-00001. Values in it cannot be read" in told
    assert "float32" in result.output
    with pytest.raises(InputError, match="there is no file"):
        run(tmp_path, "float32", "--values")


def test_several_missing_files_are_reported(tmp_path):
    shutil.copy(FOLDER / "sharded-12.index", tmp_path)
    result = CliRunner().invoke(command, [str(tmp_path)], standalone_mode=False)
    told = " ".join((result.output + getattr(result, "stderr", "")).split())
    assert "3 files of the checkpoint are missing, such as" in told


def test_what_a_missing_file_leaves_is_listed(tmp_path):
    shutil.copy(FOLDER / "old-3-00001-of-00002", tmp_path)
    lines = run(tmp_path / "old-3").splitlines()
    assert lines[2].split()[:2] == ["only1", "float32"]
    assert lines[3].split() == ["parts", "float32", "10x6", "60", "240", "B", *"–––––"]


def test_a_file(tmp_path):
    path = tmp_path / "list.txt"
    assert run(FOLDER / "objects", "--format", "csv", "-o", path) == ""
    assert path.read_text().startswith("name,full_name,dtype")
    with pytest.raises(UsageError, match="exists already"):
        run(FOLDER / "objects", "-o", path)
    run(FOLDER / "objects", "-o", path, "--force")
    assert path.read_text().startswith("variable")


def test_names_that_would_steer_a_terminal_are_shown(tmp_path):
    write_bundle(tmp_path / "m", {"a\x1b[2Jb": entry(4, [], b"\x07")}, b"\x07")
    assert "a\\x1b[2Jb" in run(tmp_path / "m")
    assert "\x1b" not in run(tmp_path / "m", "--color", "never")


def test_colour():
    assert "\x1b[" in run(FOLDER / "objects", "--color", "always")

import re

import pytest


def first_words(lines):
    """What stands first in each row of the first table, without tree lines."""
    start = next(place for place, line in enumerate(lines) if set(line) == {"─"})
    rows = [re.sub(r"^[├└│ ]+", "", line) for line in lines[start + 1 :]]
    found = []
    for row in rows:
        if not row or set(row) == {"─"}:
            break
        time = re.search(r"[\d.]+ [mµ]?s\b", row)
        if time is not None:
            found.append((row.split()[0], time[0]))
    return found


@pytest.mark.parametrize("title", ["Time by op type", "Time by scope"])
def test_the_commands_above_the_tables_show_the_same_rows(call, title):
    lines = call("demo", COLUMNS="110").stdout.splitlines()
    (place,) = [place for place, line in enumerate(lines) if line.startswith(title)]
    words = lines[place].removeprefix(title).split()
    assert words[0] == "tfprof"
    answer = call(*words[1:], "--format", "table", COLUMNS="110").stdout.splitlines()
    told = first_words(answer)
    shown = [row for row in first_words(lines[place:]) if row[0] != "others"]
    assert len(shown) > 10
    assert [row for row in shown[:11] if row not in told] == []


def test_what_comes_with_tfprof_can_be_copied(call, tmp_path):
    done = call("demo", "--copy", tmp_path / "c")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "faster-input, input-bound, recompiles, slow-input, slow-worker, two-gpus" in done.stderr
    assert call("overview", tmp_path / "c" / "two-gpus").exit_code == 0
    assert call("demo", "--copy", tmp_path / "c").exit_code == 0  # all of it is there
    (tmp_path / "c" / "xla" / "worker0.xplane.pb.xz").write_text("mine")
    assert call("demo", "--copy", tmp_path / "c").exit_code == 2
    assert call("demo", "--copy", tmp_path / "c" / "xla" / "worker0.xplane.pb.xz").exit_code == 3


@pytest.mark.parametrize(
    "words",
    [
        ["demo", "--copy", "s3://b/captures"],
        ["op", "--demo", "-o", "s3://b/op.txt"],
        ["op", "--demo", "-output", "file:outfile=s3://b/op.txt"],
        ["export", "--demo", "--table", "ops", "-o", "s3://b/ops.csv"],
    ],
)
def test_addresses_of_other_machines_are_not_folders_here(call, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    result = call(*words)
    assert result.exit_code == 2
    assert "are written into folders of this machine only" in result.stderr
    assert not list(tmp_path.iterdir())

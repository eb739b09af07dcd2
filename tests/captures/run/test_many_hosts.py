"""Runs of many hosts, of which some are damaged, copied, missing, or number steps differently.

The answer covers the rest, and states counts and names of missing hosts in few words.
"""

import json
from dataclasses import replace

import pytest

from tests.captures.run.recorded_host import N_STEPS, recorded
from tests.pods.many_hosts import Plan, write_run
from tfprof.captures.facts.run_steps import run_steps
from tfprof.captures.overview.overview_page import overview
from tfprof.captures.run.memo import Memo
from tfprof.captures.run.run import open_run
from tfprof.captures.tools.op_statistics import op_stats
from tfprof.captures.tools.pod_viewer import pod
from tfprof.captures.tools.stragglers import stragglers
from tfprof.errors import EmptyProfileError, MalformedProfileError
from tfprof.testing.xspace_builders import event, host, line, xspace

N_HOSTS = 16

PAGE = b"<!DOCTYPE html>\n<html><body>Denied</body></html>\n"


def made(folder, n_hosts=N_HOSTS, late=None, **damage):
    """A run, and the damage of each host."""
    plan = Plan(hosts=n_hosts, damage=damage, late=late or {}, clocks_s=1e-6, early_s=1e-6)
    truth = write_run(folder, recorded(), plan)
    return open_run(folder), {host["name"]: host["damage"] for host in truth["hosts"]}


def stated(run):
    return [(note.host, note.message) for note in run.notes]


def hosts_of(damage, kind):
    return [name for name, of_host in damage.items() if of_host == kind]


def test_a_run_without_damage_has_no_notes(tmp_path):
    run, _ = made(tmp_path)
    assert [host.name for host in run.hosts] == [f"host{n:03}" for n in range(N_HOSTS)]
    assert {host.machine for host in run.hosts} == {f"host{n:03}" for n in range(N_HOSTS)}
    assert run.notes == ()
    steps = run_steps(run)
    assert (steps.n_steps, steps.notes) == (N_STEPS, ())


@pytest.mark.parametrize(
    ("kind", "reported"),
    [
        ("missing", "missing, so no result includes it: its file is a link to a file that is gone"),
        ("empty", "is empty. It was not written to its end"),
        ("foreign", "not read, so no result includes it"),
        ("duplicate", "has the same bytes as host000, so it is left out: it is a copy"),
    ],
)
def test_what_is_not_a_capture_of_its_own_is_named_and_left_out(tmp_path, kind, reported):
    run, damage = made(tmp_path, **{kind: 2})
    lost = hosts_of(damage, kind)
    assert [host for host, _ in stated(run)] == lost
    assert all(reported in message for _, message in stated(run))
    assert [host.name for host in run.hosts] == [name for name in damage if name not in lost]
    assert run_steps(run).n_steps == N_STEPS


def test_a_truncated_file_answers_with_what_was_readable(tmp_path):
    run, damage = made(tmp_path, truncated=1)
    [name] = hosts_of(damage, "truncated")
    [(host, message)] = stated(run)
    assert host == name
    assert "is truncated or damaged" in message
    assert len(run.hosts) == N_HOSTS


def test_a_copy_does_not_count_twice(tmp_path):
    run, _ = made(tmp_path, duplicate=3)
    alone, _ = made(tmp_path / "alone", N_HOSTS - 3)
    sums = [sum(op_stats(each).table("ops").column("occurrences")) for each in (run, alone)]
    assert sums == [(N_HOSTS - 3) * N_STEPS * 3] * 2


def test_copies_of_a_copy_that_differs_elsewhere_are_none(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.xplane.pb").write_bytes(recorded(machine=name).SerializeToString())
    run = open_run(tmp_path)
    assert [host.name for host in run.hosts] == ["a", "b"]
    assert run.notes == ()


def test_bytes_that_are_given_twice_are_two_hosts():
    data = recorded().SerializeToString()
    assert len(open_run([data, data]).hosts) == 2


def test_every_damage_at_once(tmp_path):
    kinds = ("missing", "empty", "truncated", "duplicate", "foreign", "steps", "epoch", "version")
    run, damage = made(tmp_path, **dict.fromkeys(kinds, 1))
    lost = [*hosts_of(damage, "missing"), *hosts_of(damage, "empty"),
            *hosts_of(damage, "duplicate"), *hosts_of(damage, "foreign")]  # fmt: skip
    names = {host.name for host in run.hosts}
    assert names == set(damage) - set(lost)
    page = overview(run)
    assert page.tables
    reported = {note.host for note in page.notes} | {
        name for note in page.notes for name in damage if name in note.message
    }
    assert {name for name, kind in damage.items() if kind not in ("", "epoch")} <= reported


def test_500_broken_files_take_few_words(tmp_path):
    good = recorded()
    for number in range(520):
        path = tmp_path / f"w{number:03}.xplane.pb"
        if number % 26 == 0:
            good.hostnames[:] = [f"w{number:03}"]
            path.write_bytes(good.SerializeToString())
        else:
            path.write_bytes((PAGE, b"", b"\x00 no capture")[number % 3])
    run = open_run(tmp_path)
    assert len(run.hosts) == 20
    first, *others = run.notes
    assert first.message == (
        "500 of 520 files are left out of all results: w001, w002, w003, w004, …, w517, w518, w519"
    )
    assert len(others) == 3
    assert others[0].message.startswith(
        "167 hosts (w001, w004, w007, w010, …, w511, w514, w517), such as w001: not read, so no "
        f"result includes it: {tmp_path / 'w001.xplane.pb'}: is empty"
    )
    assert sum(len(note.message) for note in run.notes) < 1200


def test_500_files_that_are_broken_in_500_ways_take_few_words(tmp_path):
    (tmp_path / "good.xplane.pb").write_bytes(recorded().SerializeToString())
    for number in range(500):
        word = "".join(chr(97 + int(digit)) for digit in str(number))
        (tmp_path / f"w{number:03}.xplane.pb").write_text(f"{word} {{ x: 1 }}")
    run = open_run(tmp_path)
    assert run.notes[0].message.startswith("500 of 501 files are left out of all results: w000, ")
    assert len(run.notes) <= 5
    assert run.notes[-1].message.startswith("further files could not be read for other reasons")


def test_500_links_and_copies_take_few_words(tmp_path):
    data = recorded().SerializeToString()
    for number in range(500):
        path = tmp_path / f"w{number:03}.xplane.pb"
        if number % 2:
            path.symlink_to(tmp_path / "gone")
        else:
            path.write_bytes(data)
    run = open_run(tmp_path)
    assert [host.name for host in run.hosts] == ["w000"]
    [links, copies] = run.notes
    assert links.message == (
        "250 hosts (w001, w003, w005, w007, …, w495, w497, w499), such as w001: missing, so no "
        "result includes it: its file is a link to a file that is gone"
    )
    assert copies.message.startswith("249 hosts (w002, ")


def test_a_run_of_links_that_are_gone_holds_no_capture(tmp_path):
    (tmp_path / "w.xplane.pb").symlink_to(tmp_path / "gone")
    with pytest.raises(EmptyProfileError, match="holds no capture"):
        open_run(tmp_path)


def test_a_run_of_empty_files_is_refused(tmp_path):
    (tmp_path / "w.xplane.pb").touch()
    with pytest.raises(MalformedProfileError, match=r"w\.xplane\.pb: is empty"):
        open_run(tmp_path)


def test_a_file_that_is_deleted_while_the_run_is_opened(tmp_path, monkeypatch):
    run_folder = tmp_path / "plugins/profile/many_hosts"
    write_run(tmp_path, recorded(), Plan(hosts=3))
    from tfprof.captures.run import run as module

    def listed_and_deleted(folder, name):
        found = run_files(folder, name)
        (run_folder / "host001.xplane.pb").unlink()
        return found

    run_files = module.run_files
    monkeypatch.setattr(module, "run_files", listed_and_deleted)
    run = open_run(tmp_path)
    [(host, message)] = stated(run)
    assert host == "host001"
    assert "cannot be read: No such file or directory" in message
    assert [each.name for each in run.hosts] == ["host000", "host002"]


@pytest.mark.parametrize("is_damaged", [False, True])
def test_what_the_record_of_a_capture_counts_is_missed(tmp_path, is_damaged):
    (tmp_path / "w0.xplane.pb").write_bytes(recorded().SerializeToString())
    unreached = {"severity": "error", "message": "w2:6009: refused", "host": ""}
    record = {
        "version": 1,
        "hosts": [{"host": "w0"}, {"host": "w1"}],
        "missing": [unreached, {"severity": "warning", "message": "no steps", "host": "w0"}],
    }
    text = json.dumps(record)
    (tmp_path / "capture.json").write_text(text[:-2] if is_damaged else text)
    assert stated(open_run(tmp_path)) == ([] if is_damaged else [
        ("w1", "missing, so no result includes it: capture.json counts it, but its file is gone"),
        ("", "not captured, so no result includes it: w2:6009: refused"),
    ])  # fmt: skip


def test_the_host_that_counts_otherwise_is_named_alone(tmp_path):
    run, damage = made(tmp_path, 3, steps=1)  # among three hosts, each has a large weight
    [name] = hosts_of(damage, "steps")
    steps = run_steps(run)
    assert steps.n_steps == N_STEPS // 2
    others = [note for note in steps.notes if "other numbers" in note.message]
    assert [note.host for note in others] == [name]
    assert "than on the 2 others" in others[0].message
    left_out = [note.host for note in steps.notes if "left out" in note.message]
    assert left_out == [host for host in damage if host != name]


def test_the_one_host_with_half_of_the_steps_takes_none_from_the_others(tmp_path):
    run, damage = made(tmp_path, steps=1)
    [name] = hosts_of(damage, "steps")
    for steps in (run_steps(run), run_steps(replace(run, hosts=run.hosts[::-1], memo=Memo()))):
        assert steps.n_steps == N_STEPS
        assert {one.host.name for one in steps.hosts} == set(damage) - {name}
        [note] = steps.notes
        assert (note.severity, note.host) == ("warning", name)
        assert note.message == (
            "has 4 of the 8 steps that 15 other hosts share, so all results on steps leave it out: "
            "with it, the others would lose 4 of theirs. Its ops and memory count"
        )
    [of_step, reported] = op_stats(run, step=1).notes[:2]
    assert of_step.message.startswith("only what belongs to step")
    assert reported == note
    assert not pod(run, host=name).table("workers").rows
    classic = run_steps(run.in_mode(classic=True))  # as in the reference
    assert (classic.n_steps, len(classic.hosts)) == (N_STEPS // 2, N_HOSTS)


def test_hosts_with_half_of_the_steps_are_named_together(tmp_path):
    run, damage = made(tmp_path, 24, steps=6, late={"input": 1})
    names = hosts_of(damage, "steps")
    [late] = [host["name"] for host in json.loads((tmp_path / "truth.json").read_text())["hosts"]
              if host["late"]]  # fmt: skip
    steps = run_steps(run)
    assert (steps.n_steps, len(steps.hosts)) == (N_STEPS, 18)
    [note] = steps.notes
    assert note.message.startswith(f"6 hosts ({names[0]}, ")
    assert "has 4 of the 8 steps that 18 other hosts share" in note.message
    for tool in (overview, pod, stragglers):
        assert note in tool(run).notes
    assert set(pod(run).table("workers").column("host")) == set(damage) - set(names)
    assert late in stragglers(run).verdict[0]
    assert ("Steps", str(N_STEPS)) in overview(run).table("environment").rows
    ops = op_stats(run).table("ops")
    assert sum(ops.column("occurrences")) == (18 * N_STEPS + 6 * N_STEPS // 2) * 3


@pytest.mark.parametrize("kind", ["steps", "version"])
def test_a_clock_that_is_years_behind_is_named_among_others_that_differ(tmp_path, kind):
    marks = [event("train", n * 10_000, 9_000, step_num=n, _r=1) for n in range(6)]
    plan = Plan(hosts=N_HOSTS, damage={"epoch": 1, kind: 1}, clocks_s=0.05)
    truth = write_run(tmp_path, xspace(host(line(*marks))), plan)
    [late] = [each["name"] for each in truth["hosts"] if each["damage"] == "epoch"]
    steps = run_steps(open_run(tmp_path))
    assert steps.n_steps == 6
    n_compared = N_HOSTS - (kind == "steps")
    [reported] = [note.message for note in steps.notes if "clock" in note.message and not note.host]
    assert f"steps of {n_compared} hosts are apart: they are 946,0" in reported
    assert f" s earlier on {late}, and 0.0" in reported


def test_few_hosts_have_notes_of_their_own(tmp_path):
    run, damage = made(tmp_path, empty=5)
    assert [host for host, _ in stated(run)] == hosts_of(damage, "empty")
    more, _ = made(tmp_path / "more", empty=6)
    assert [host for host, _ in stated(more)] == ["", ""]

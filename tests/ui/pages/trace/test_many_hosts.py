"""The trace of many hosts, whose events are read again: of the first one and the slowest."""

from tfprof.captures.hosts.asked import fleet_of
from tfprof.captures.trace.from_run import model_of_run
from tfprof.testing.xspace_builders import event, host, line, xspace
from tfprof.tools import open_run

STEPS_US = (100, 300, 200, 600, 400, 500)


def files(folder):
    for number, took_us in enumerate(STEPS_US):
        calls = [
            event("train", step * 10**6, took_us * 1000, step_num=step, _r=1) for step in range(3)
        ]
        path = folder / f"w{number}.xplane.pb"
        path.write_bytes(xspace(host(line(*calls))).SerializeToString())
    return sorted(map(str, folder.iterdir()))


def test_the_first_and_the_slowest_hosts_are_shown(tmp_path):
    paths = files(tmp_path)
    fleet = fleet_of(paths)
    model = model_of_run(fleet.run_for(model_of_run))
    assert list(dict.fromkeys(model.hosts)) == ["w0", "w3", "w4", "w5"]
    [remark] = model.remarks
    assert remark.startswith("of 6 hosts 4 are shown")
    assert fleet.facts.n_reopened == 4
    assert [step.name for step in model.steps] == ["train 0", "train 1", "train 2"]


def test_of_open_hosts_and_of_few_all_are_shown(tmp_path):
    paths = files(tmp_path)
    assert len(set(model_of_run(open_run(paths)).hosts)) == len(paths)
    model = model_of_run(fleet_of(paths[:4]).run_for(model_of_run))
    assert len(set(model.hosts)) == 4
    assert not model.remarks

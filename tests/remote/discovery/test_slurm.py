"""SLURM's short form of hosts, and its command ``squeue``, of which there is a stand-in here."""

import os
import sys

import pytest

from tfprof.errors import InputError, UsageError
from tfprof.remote.addresses import Address
from tfprof.remote.discovery.slurm import hosts_of, in_job

pytestmark = pytest.mark.one_engine


@pytest.mark.parametrize(
    ("listed", "hosts"),
    [
        ("", []),
        ("login1", ["login1"]),
        ("a,b", ["a", "b"]),
        ("node[01-03,7]-x", ["node01-x", "node02-x", "node03-x", "node7-x"]),
        ("gpu[8-11],cpu[1]", ["gpu8", "gpu9", "gpu10", "gpu11", "cpu1"]),
        ("gpu[098-101]", ["gpu098", "gpu099", "gpu100", "gpu101"]),
        ("r[1-2]n[3-4]", ["r1n3", "r1n4", "r2n3", "r2n4"]),
        ("r[1,3]c0s[0-1]b[7]", ["r1c0s0b7", "r1c0s1b7", "r3c0s0b7", "r3c0s1b7"]),
        ("a[1-2],a[2-3]", ["a1", "a2", "a3"]),
        ("node-a.b[1-2].example.org", ["node-a.b1.example.org", "node-a.b2.example.org"]),
    ],
)  # fmt: skip
def test_hosts(listed, hosts):
    assert hosts_of(listed) == hosts


@pytest.mark.parametrize(
    "listed",
    ["a[1-2", "a]1[", "a[[1]]", "a[3-1]", "a[x]", "a[]", "a[1-999999999]", "a[0-999]" * 3],
)
def test_texts_that_are_not_lists_of_hosts(listed):
    with pytest.raises(InputError, match="is not a list of hosts of SLURM: "):
        hosts_of(listed)


def test_the_job_of_this_process():
    environ = {"SLURM_JOB_NODELIST": "n[1-2]"}
    assert in_job("here", [6009, 6010], environ)() == [
        Address("n1", 6009), Address("n1", 6010), Address("n2", 6009), Address("n2", 6010)
    ]  # fmt: skip
    with pytest.raises(UsageError, match="SLURM_JOB_NODELIST is not set"):
        in_job("here", [6009], {})
    with pytest.raises(UsageError, match="'1; rm' is not the number of a job"):
        in_job("1; rm", [6009], {})


@pytest.mark.skipif(os.name != "posix", reason="a script of POSIX")
def test_another_job(tmp_path, monkeypatch):
    squeue = tmp_path / "squeue"
    squeue.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "assert sys.argv[1:] == ['--noheader', '--jobs=1234', '--format=%N'], sys.argv\n"
        "text = open(sys.argv[0] + '.out').read()\n"
        "sys.exit(text) if 'error' in text else print(text)\n"
    )
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    workers = in_job("1234", [6009])
    answer = tmp_path / "squeue.out"
    answer.write_text("")  # it waits for its hosts
    assert workers() == []
    answer.write_text("n[1-2]")
    assert workers() == [Address("n1", 6009), Address("n2", 6009)]
    answer.write_text("slurm_load_jobs error: Invalid job id specified")
    with pytest.raises(InputError, match="job 1234: squeue ends with 1: slurm_load_jobs error"):
        workers()
    squeue.unlink()
    with pytest.raises(UsageError, match="squeue is not on this machine's PATH"):
        workers()

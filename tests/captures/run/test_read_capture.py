"""Files without data of a capture, and short answers of a run."""

from dataclasses import replace

import pytest

from tfprof import tools
from tfprof.errors import MalformedProfileError
from tfprof.testing.xspace_builders import event, host, line, xspace
from tfprof.tools import open_run


@pytest.mark.parametrize("content", [b"\x89PNG\r\n", b"\x0a\xff\xff\x03\x08"])
def test_a_file_without_one_readable_event_is_refused(tmp_path, content):
    cut = tmp_path / "a.xplane.pb"
    cut.write_bytes(content)
    with pytest.raises(MalformedProfileError, match="truncated or damaged"):
        open_run(cut)
    whole = tmp_path / "b.xplane.pb"
    whole.write_bytes(xspace(host(line(event("a/b:MatMul", 0, 5)))).SerializeToString())
    [note] = [one for one in open_run([cut, whole]).notes if "no result includes it" in one.message]
    assert note.host == "a"


def test_results_have_a_short_repr():
    run = open_run(xspace(host(line(*(event(f"a{n}:MatMul", n, 1) for n in range(300))))))
    assert (repr(run), repr(run.hosts)) == ("<Run of 1 host>", "(<Host 'host 0'>,)")
    assert repr(replace(run, name="train", hosts=run.hosts * 2)) == "<Run train of 2 hosts>"
    result = tools.op_stats(run)
    assert repr(result).startswith("<ToolResult op-stats: rows of tables: ops 300, ")
    assert repr(result.table()).startswith("<Table ops: 300 rows of ")

"""The page on remote captures: its commands run, with other ports."""

import re

import pytest

from tests.doc_pages import ROOT, is_quotation, run_page
from tests.remote.programs import PROGRAM
from tests.remote.recorded_answers import recorded

PAGE = ROOT / "docs" / "remote_capture.md"


@pytest.mark.slow
@pytest.mark.one_engine
def test_the_page_does_what_it_says(fake_server, absent, tmp_path, monkeypatch, capfd):
    answer = recorded()
    ports = {
        "6009": str(fake_server(answer).port),
        "6010": str(fake_server(answer).port),
        "6011": absent.rpartition(":")[2],
    }
    text = re.sub("60(09|10|11)", lambda match: ports[match[0]], PAGE.read_text("utf-8"))
    assert "--for 1s " in text
    text = text.replace("--for 1s ", "--for 300ms ")  # nothing happens that is worth the time
    page = tmp_path / "page.md"
    page.write_text(text, "utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    n_blocks = 0
    for code, quoted, printed in run_page(page, folder, capfd):
        n_blocks += 1
        if quoted is not None:
            assert is_quotation(quoted, printed), f"{code}\nprints:\n{printed}"
    assert n_blocks == 12


def test_programs_start_the_server_as_the_page_says():
    block = re.search(
        r"<!-- needs TensorFlow -->\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.S
    )
    assert "tfprof.capture.serve(6009)" in block[1]
    assert "tf.profiler.experimental.server.start(" in PROGRAM

"""The page on hangs: its commands run, with other ports and a shorter time."""

import threading
import time

import pytest

from tests.doc_pages import ROOT, run_page
from tests.remote.hangs.fakes import Fake

PAGE = ROOT / "docs" / "hangs.md"


@pytest.mark.slow
@pytest.mark.one_engine
def test_the_page_does_what_it_says(fake_server, tmp_path, monkeypatch, capfd):
    fakes = [Fake(), Fake()]
    text = PAGE.read_text("utf-8")
    for port, fake in zip(("6009", "6010"), fakes, strict=True):
        text = text.replace(f"localhost:{port}", fake_server(**fake.methods()).address)
    assert text.count("--hang-timeout 60s --count 1") == 1
    page = tmp_path / "page.md"
    page.write_text(text.replace("60s", "2.5s --for 30s --overhead-check 0s"), "utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    threading.Thread(target=_stop_later, args=(fakes,), daemon=True).start()
    record, overview, tables = [printed for _, _, printed in run_page(page, folder, capfd)]
    assert "Hang of" in record and "next: tfprof overview" in record
    assert overview.lstrip().startswith("Hang of") or "Hang of" in overview[:400]
    assert "without progress" in tables


def _stop_later(fakes):
    while any(fake.step < 30 for fake in fakes):
        time.sleep(0.05)
    for fake in fakes:
        fake.works = "nothing"

"""The next server shows kept documents without reading the run, until its files change."""

import gzip
import json
import shutil
import time
from dataclasses import replace

import pytest

pytest.importorskip("starlette")

from tfprof.core.columns.once import Once
from tfprof.demo import demo_capture
from tfprof.files.cache import Cache
from tfprof.inputs.open_paths import open_paths
from tfprof.ui.pages.site import Site
from tfprof.ui.web.document_cache import DocumentCache, packed
from tfprof.ui.web.server import RunCache

pytestmark = pytest.mark.one_engine

SITE, START, SOURCE = "site", "page/start", "page/source"


@pytest.fixture
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    return lambda: DocumentCache(Cache(folder, 1 << 20))


def unreadable():
    raise AssertionError("the run is read")


def server(path, documents, *, may_read=True):
    opened = open_paths([path])
    if not may_read:
        opened = [replace(one, run=Once(unreadable), profiler=None) for one in opened]
    return RunCache(Site(opened), documents=documents())


def test_the_second_server_need_not_read_the_run(documents):
    path = demo_capture("gpu")
    first = [server(path, documents).packed(name, {}) for name in (SITE, START)]
    again = server(path, documents, may_read=False)
    assert [again.packed(name, {}) for name in (SITE, START)] == first
    assert json.loads(gzip.decompress(first[1]))["page"] == "start"
    with pytest.raises(AssertionError, match="the run is read"):
        again.packed(START, {"step": "1"})


def test_other_runs_beside_it_are_another_site(documents):
    path = demo_capture("gpu")
    server(path, documents).packed(SITE, {})
    [other] = open_paths([demo_capture("input-bound")])
    site = Site([*open_paths([path]), replace(other, name="other")])
    both = RunCache(site, documents=documents())
    pages = json.loads(gzip.decompress(both.packed(SITE, {})))
    assert len(pages["runs"]) == 2


def test_a_file_that_has_changed_is_read_again(documents, tmp_path):
    path = tmp_path / "host.xplane.pb.xz"
    shutil.copy(demo_capture("gpu"), path)
    time.sleep(2.1)
    server(path, documents).packed(SITE, {})
    kept = server(path, documents, may_read=False)
    kept.packed(SITE, {})
    shutil.copy(demo_capture("input-bound"), path)
    with pytest.raises(AssertionError, match="the run is read"):
        server(path, documents, may_read=False).packed(SITE, {})
    made = server(path, documents)
    assert gzip.decompress(made.packed(SITE, {})) == made.document(SITE, {})


def test_pages_with_lines_of_source_files_are_always_made(documents):
    path = demo_capture("gpu")
    first = server(path, documents)
    assert first.packed(SOURCE, {}) == packed(first.document(SOURCE, {}))
    with pytest.raises(AssertionError, match="the run is read"):
        server(path, documents, may_read=False).packed(SOURCE, {})

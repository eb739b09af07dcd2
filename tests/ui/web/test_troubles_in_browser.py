"""What is wrong stands on the page, with a way on."""

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from tests.ui.web.conftest import running
from tfprof.ui.web.server import application

pytestmark = [pytest.mark.browser, pytest.mark.one_engine]


def test_a_step_that_the_run_does_not_have_is_reported_and_can_be_left(site, watched):
    with running(application(site)) as address:
        page = watched(address).open(f"{address}#/overview?step=99")
        assert "no step 99" in page.tab.locator("main [role=alert]").inner_text()
        # The list of pages keeps the step; this way does not.
        page.tab.get_by_role("link", name="Show it without settings").click()
        page.tab.locator("main h1", has_text="Start").wait_for()
        assert "step" not in page.tab.url
    assert page.requests == []


def test_a_page_that_is_empty_can_be_read_in_the_list_while_it_is_shown(site, watched):
    with running(application(site)) as address:
        page = watched(address).open(f"{address}#/kernel-stats", "kernel-stats")
        ink, behind = page.tab.locator("nav a[aria-current]").evaluate(
            "each => [getComputedStyle(each).color, getComputedStyle(each).backgroundColor]"
        )
        assert ink == "rgb(255, 255, 255)" != behind
        assert page.tab.locator("main .nothing").inner_text()
    page.check()

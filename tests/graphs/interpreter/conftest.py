"""The interpreter works on a graph that has been read.

Engines are tested with the readers, so ``nox -s pure`` leaves these tests out.
"""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(pytest.mark.one_engine)

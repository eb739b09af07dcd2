"""Formulas are arithmetic on shapes and attributes.

No engine runs, so ``nox -s pure`` leaves these tests out.
"""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(pytest.mark.one_engine)

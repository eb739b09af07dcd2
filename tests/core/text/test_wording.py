"""Words in numbers: plurals."""

import pytest

from tfprof.core.text.wording import many


@pytest.mark.parametrize(
    ("noun", "nouns"),
    [
        ("run", "runs"), ("copy", "copies"), ("delay", "delays"), ("batch", "batches"),
        ("small op", "small ops"), ("times", "times"), ("analysed", "analysed"), ("slow", "slow"),
    ],
)  # fmt: skip
def test_plurals(noun, nouns):
    assert many(noun) == nouns

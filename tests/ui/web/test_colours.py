"""Colours of the categories of time are distinct, in light and in dark."""

import itertools
import re

import pytest

from tfprof.ui.web.scripts import joined_style

MEANINGS = ("input", "launch", "collective", "copy", "host", "device")
LEAST = 25
"""Distance in CIELAB; 2.3 is what people just see."""


def colours(scheme):
    css = joined_style()
    light = dict(re.findall(r"--c-(\w+): (#\w{6})", css[: css.index("@media")]))
    dark = dict(
        re.findall(r"--c-(\w+): (#\w{6})", re.search(r'="dark"\] \{(.*?)\n\}', css, re.S)[1])
    )
    return light if scheme == "light" else light | dark


def lab(colour):
    rgb = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    r, g, b = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb]
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz]
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_meanings_have_colours_that_differ(scheme):
    of = colours(scheme)
    for one, other in itertools.combinations(MEANINGS, 2):
        apart = sum((a - b) ** 2 for a, b in zip(lab(of[one]), lab(of[other]), strict=True)) ** 0.5
        assert apart > LEAST, (one, other)

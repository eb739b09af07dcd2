import numpy as np
import pytest

from tfprof.files.checkpoint.value_text import classic_text, report_text, short_text, value_texts
from tfprof.files.checkpoint.variable_values import VariableValue


def variable(values, dtype=None):
    values = np.array(values)
    return VariableValue("layer/w", dtype or str(values.dtype), 1, values, "/logs/m-1")


def texts(*values):
    array = np.empty(len(values), np.object_)
    array[:] = values
    return variable(array, "string")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (variable(np.float32(0.125)), "[0.12 ],\n"),
        (variable(np.float32([1, 2.5])), "[1.00 2.50 ],\n"),
        (variable([[1.0, -2.0], [np.nan, np.inf]]), "[[1.00 -2.00 ],\n[nan inf ],\n],\n"),
        (variable(np.int32([[[1], [2]]])), "[[[1 ],\n[2 ],\n],\n],\n"),
        (texts(b"a", b"b c"), "['a' 'b c' ],\n"),
        (variable(np.zeros((2, 0))), "[[],\n[],\n],\n"),
        (variable(np.zeros(0)), "[],\n"),
        # Six digits first, then two after the point: 1234565.004 is 1.23457e+06 is 1234570.00.
        (variable([1234565.004]), "[1234570.00 ],\n"),
        (variable(np.float16([1])), ""),
        (variable(np.uint8([1])), ""),
    ],
)
def test_classic_texts(value, text):
    assert classic_text(value) == text


def test_classic_texts_are_cut_at_10000_characters():
    # "[" and 3333 times "0. ": 10000 characters are one too few to be cut, and enough to say so.
    full = variable(np.int64([10] * 3333))
    assert classic_text(full) == "[" + "10 " * 3333 + "],\n...omitted from display\n\n"
    longer = variable(np.int64([10] * 3334))
    assert classic_text(longer) == "[" + "10 " * 3333 + "],\n...omitted from display\n\n"
    shorter = variable(np.int64([10] * 3331))
    assert classic_text(shorter) == "[" + "10 " * 3331 + "],\n"


def test_classic_texts_of_many_rows_are_cut_once():
    text = classic_text(variable(np.zeros((100_000, 2), np.int32)))
    rows = "[0 0 ],\n" * 2000
    assert text == ("[" + rows)[:10_000] + "],\n...omitted from display\n\n"


def test_reports_have_all_digits():
    value = variable(np.float32([[0.1, 1e-20], [123456.7, -0.0]]))
    assert report_text(value) == "[[0.1 1e-20 ],\n[123456.7 -0.0 ],\n],\n"


def test_reports_say_what_they_leave_out():
    value = variable(np.arange(1002).reshape(2, 501))
    lines = report_text(value).splitlines()
    assert lines[1].endswith("998 999")
    assert lines[2] == "… 2 more values; tfprof checkpoint /logs/m-1 layer/w --values shows all"
    assert len(lines) == 3
    assert "more values" not in report_text(variable(np.arange(1000)))


def test_unreadable_files_are_named():
    value = VariableValue("v", "variant", 21, None, "m")
    assert "type variant" in report_text(value)
    assert "type variant" in short_text(value)
    assert classic_text(value) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (variable([[1.5, 2.0], [0.1, 3.0]]), "[[1.5, 2.0], [0.1, 3.0]]"),
        (variable(7), "7"),
        (variable([True, False]), "[True, False]"),
        (variable(np.complex64([1 - 2j, 0.1j])), "[1.0-2.0j, 0.0+0.1j]"),
        (texts(b"a'\n", "größe".encode(), b"\xff"), "[\"a'\\n\", 'größe', '\\\\xff']"),
        (variable(np.zeros((2, 0))), "[[], []]"),
        (variable(np.zeros((0, 2))), "[]"),
        (variable(np.float32([0.10009765625, 3.0, -0.0, np.nan]), "bfloat16"),
         "[0.1, 3.0, -0.0, nan]"),
    ],
)  # fmt: skip
def test_texts_in_one_line(value, text):
    assert short_text(value) == text


def test_one_line_says_what_it_leaves_out():
    text = short_text(variable(np.arange(1200)))
    assert text.endswith(
        "999 … 200 more values; tfprof checkpoint /logs/m-1 layer/w --values shows all"
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_texts_read_back_as_the_same_value(dtype):
    bits = np.random.default_rng(0).integers(0, 2**63, 3000, dtype=np.uint64)
    values = bits.view(dtype)
    values = values[np.isfinite(values)]
    back = np.array([float(text) for text in value_texts(variable(values))]).astype(dtype)
    np.testing.assert_array_equal(back, values)


def test_texts_of_bfloat16_read_back_as_the_same_value():
    values = (np.arange(65536, dtype=np.uint32) << 16).view(np.float32)
    values = values[np.isfinite(values)]
    back = np.array([float(text) for text in value_texts(variable(values, "bfloat16"))])
    bits = back.astype(np.float32).view(np.uint32)
    # Round to nearest, as hardware does.
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    np.testing.assert_array_equal(rounded, values.view(np.uint32) >> 16)

import base64
import json

import numpy as np

from tfprof.ui.pages.document import column, remarks, to_json, words


def test_short_columns_are_lists_that_people_can_read():
    assert column(np.array([1, 2, 3])) == [1, 2, 3]
    assert column(["a", None]) == ["a", None]
    assert column([1.5, float("nan"), None]) == [1.5, None, None]


def test_long_columns_of_whole_numbers_are_32_bits_each():
    packed = column(np.arange(100))
    assert packed["type"] == "i32"
    assert np.frombuffer(base64.b64decode(packed["data"]), "<i4").tolist() == list(range(100))


def test_what_is_unknown_in_a_long_column_of_numbers_is_nan():
    packed = column([None, *range(100)])
    numbers = np.frombuffer(base64.b64decode(packed["data"]), "<f8")
    assert packed["type"] == "f64"
    assert np.isnan(numbers[0])
    assert numbers[1:].tolist() == list(range(100))


def test_numbers_that_32_bits_cannot_hold_are_doubles():
    assert column(np.full(100, 2**31))["type"] == "f64"


def test_texts_that_repeat_are_kept_once():
    packed = column(["MatMul", None] * 50)
    assert packed["texts"] == ["MatMul"]
    assert np.frombuffer(base64.b64decode(packed["at"]["data"]), "<i4").tolist() == [0, -1] * 50


def test_control_characters_of_names_are_shown():
    assert words(["a\x1b[2J"])["items"] == ["a\\x1b[2J"]
    assert column(["a\n"]) == ["a\\n"]


def test_json_has_no_numbers_that_browsers_cannot_read():
    assert json.loads(to_json({"a": [float("inf"), 1.0], "b": float("nan")})) == {
        "a": [None, 1.0],
        "b": None,
    }


def test_any_number_of_remarks_of_any_length():
    block = remarks([("error", "x" * 900_000, ""), *[("warning", "w", "")] * 16_000])
    assert (len(block["items"]), block["n_more"]) == (50, 15_951)
    assert "900,000 letters" in block["items"][0]["text"]
    assert len(str(block)) < 20_000

import pytest

from tfprof.core.hardware import DEVICES, Device, device_of
from tfprof.errors import UsageError

FLOAT, DOUBLE, HALF, BFLOAT16, INT8 = 1, 2, 19, 14, 6


@pytest.mark.parametrize(
    ("name", "per_cycle", "units", "ghz"),
    [  # operations per cycle of a multiprocessor's matrix units in float16, by architecture
        ("v100", 1024, 80, 1.53),
        ("t4", 1024, 40, 1.59),
        ("a100", 2048, 108, 1.41),
        ("a10", 1024, 72, 1.695),
        ("l4", 1024, 58, 2.04),
        ("h100", 4096, 132, 1.83),
        ("h200", 4096, 132, 1.83),
        ("b200", 8192, 148, 1.85),
    ],
)
def test_float16_rates_follow_from_units_and_clock(name, per_cycle, units, ghz):
    expected = per_cycle * units * ghz * 1e9
    assert DEVICES[name].rates["fp16"] == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("device", DEVICES.values(), ids=str)
def test_every_device_says_where_its_numbers_come_from(device):
    assert device.source[-4:].isdigit()
    assert device.about
    assert device.bytes_per_second > 1e11
    assert device.rates
    assert all(rate > 1e12 for rate in device.rates.values())


def test_products_run_on_matrix_units_and_others_do_not():
    a100 = DEVICES["a100"]
    assert a100.rate(FLOAT, is_product=True) == 156e12  # TF32
    assert a100.rate(FLOAT, is_product=False) == 19.5e12
    assert a100.rate(HALF, is_product=True) == 312e12
    assert a100.rate(HALF, is_product=False) == 19.5e12
    assert a100.rate(DOUBLE, is_product=True) == 9.7e12
    assert a100.rate(INT8, is_product=True) == 624e12


def test_types_that_a_device_does_not_have_run_on_the_next_wider_ones():
    assert DEVICES["v100"].rate(BFLOAT16, is_product=True) == 125e12
    assert DEVICES["v100"].rate(FLOAT, is_product=True) == 15.7e12


def test_unpublished_rates_are_unknown():
    assert DEVICES["tpu-v4"].rate(FLOAT, is_product=True) == 275e12  # bfloat16 passes
    assert DEVICES["tpu-v4"].rate(FLOAT, is_product=False) is None
    assert DEVICES["t4"].rate(DOUBLE, is_product=True) is None


@pytest.mark.parametrize("name", ["a100-80gb", "A100 80GB", "NVIDIA A100_80GB", " a100-80GB "])
def test_spellings_of_a_name(name):
    assert device_of(name) is DEVICES["a100-80gb"]


def test_a_cpu_is_computed():
    cpu = device_of("cpu:16x2.5x32:100")
    assert cpu.rate(FLOAT, is_product=True) == 16 * 2.5e9 * 32
    assert cpu.rate(DOUBLE, is_product=False) == 16 * 2.5e9 * 16
    assert cpu.bytes_per_second == 100e9
    assert device_of("cpu:1x3x8").bytes_per_second is None


@pytest.mark.parametrize("given", [(1e12, 2e9), [1e12, 2e9], "1e12,2e9"])
def test_rates_of_the_users_own(given):
    device = device_of(given)
    assert device.rate(INT8, is_product=False) == 1e12
    assert device.bytes_per_second == 2e9
    assert device_of(device) is device
    assert isinstance(device, Device)


@pytest.mark.parametrize(
    "given", ["h900", "", "cpu:x", "cpu:4x2", "1,2,3", "a,b", (0, 1), (1,), (1, -1), (1, None), 7,
              (float("nan"), 1), "inf,1"],
)  # fmt: skip
def test_invalid_devices(given):
    with pytest.raises(UsageError, match="device"):
        device_of(given)

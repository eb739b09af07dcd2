import pytest

from tfprof.doctor.facts import Requirement, is_within, major_of, release_of, requirement_of


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("click>=8.1", Requirement("click", ">=8.1", "")),
        ("prompt_toolkit >= 3.0.36", Requirement("prompt-toolkit", ">= 3.0.36", "")),
        ("rich", Requirement("rich", "", "")),
        ("numpy (>=1.23,<3)", Requirement("numpy", ">=1.23,<3", "")),
        ('tensorflow>=2.16; extra == "tf"', Requirement("tensorflow", ">=2.16", "tf")),
        (
            "cupti-python>=13.0; sys_platform == 'linux' and extra == 'gpu'",
            Requirement("cupti-python", ">=13.0", "gpu"),
        ),
        ("tensorflow[and-cuda]>=2.16", Requirement("tensorflow", ">=2.16", "")),
        ("???", None),
    ],
)
def test_requirements(line, wanted):
    assert requirement_of(line) == wanted


@pytest.mark.parametrize(
    ("version", "range_", "answer"),
    [
        ("8.1", ">=8.1", True),
        ("8.1.7", ">=8.1", True),
        ("8.10", ">=8.9", True),
        ("8", ">=8.0", True),
        ("7.9", ">=8", False),
        ("2.0", ">=1.23,<2", False),
        ("2.0", ">=1.23, <3, !=2.1", True),
        ("2.1", "!=2.1", False),
        ("2.21.4", "==2.21.*", True),
        ("2.22", "==2.21.*", False),
        ("2.22", "!=2.21.*", True),
        ("3.4", "~=3.2", True),
        ("4.0", "~=3.2", False),
        ("3.2.9", "~=3.2.1", True),
        ("3.3", "~=3.2.1", False),
        ("2.16.0rc1", ">=2.16", True),
        ("1", ">1,<=2", False),
        ("anything", "", True),
        ("unknown", ">=1", False),
    ],
)
def test_ranges(version, range_, answer):
    assert is_within(version, range_) == answer


def test_releases():
    assert release_of("12.5.1") == (12, 5, 1)
    assert release_of("2.22.0-dev20260101") == (2, 22, 0)
    assert release_of("") == ()
    assert (major_of("12.5"), major_of("")) == (12, None)

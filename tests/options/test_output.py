import pytest

from tfprof.errors import UsageError
from tfprof.options.output import Output, parse_classic_output, parse_output

pytestmark = pytest.mark.one_engine


@pytest.mark.parametrize("parse", [parse_output, parse_classic_output])
@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("", Output("stdout")),
        ("stdout", Output("stdout")),
        ("stdout:", Output("stdout")),
        ("none", Output("none")),
        ("file:outfile=/tmp/a", Output("file", "/tmp/a")),
        ("file:outfile=C:/a:b", Output("file", "C:/a:b")),
        ("file:outfile=a=b", Output("file", "a=b")),
    ],
)
def test_what_both_modes_read_alike(parse, text, output):
    assert parse(text) == output


@pytest.mark.parametrize("path", ["a,b", "=a", "a==b", "a,outfile=b", " a "])
def test_everything_behind_the_key_is_the_path(path):
    assert parse_output(f"file:outfile={path}").outfile == path


@pytest.mark.parametrize(
    ("text", "outfile"),
    [
        ("file:outfile=a==b", "a=b"),
        ("file:outfile==a", "a"),
        ("file:=outfile=a", "a"),
        ("file:outfile=a,,outfile=b", "b"),
        ("timeline:outfile=t", "t"),
        ("pprof:outfile=p,", "p"),
    ],
)
def test_classic_splitting(text, outfile):
    assert parse_classic_output(text).outfile == outfile


def test_a_timeline_can_hold_every_step():
    assert parse_output("timeline:outfile=t") == Output("timeline", "t")
    assert parse_output("timeline:steps=all,outfile=t,u") == Output("timeline", "t,u", True)
    assert "steps=all,outfile=PATH" in refused(parse_output, "timeline:steps=2,outfile=t")
    assert "file:outfile=PATH" in refused(parse_output, "file:steps=all,outfile=t")


def refused(parse, text):
    with pytest.raises(UsageError) as caught:
        parse(text)
    return str(caught.value)


@pytest.mark.parametrize("text", ["html", "File", "stdouts:outfile=a"])
def test_unknown_types_name_the_known_ones(text):
    message = refused(parse_output, text)
    assert repr(text) in message
    assert "dot, file, none, pprof, stdout, timeline" in message


@pytest.mark.parametrize(
    "text", ["file", "file:", "file:outfile", "file:outfile=", "file:path=a", "file:a"]
)
def test_a_file_needs_its_path(text):
    assert "file:outfile=PATH" in refused(parse_output, text)


@pytest.mark.parametrize("text", ["stdout:outfile=a", "none:x=y"])
def test_the_others_take_no_options(text):
    assert "takes no options" in refused(parse_output, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("html", "E.g. Unknown output type: html, Valid types: file,none,pprof,stdout,timeline\n"),
        (":", "E.g. Unknown output type: , Valid types: file,none,pprof,stdout,timeline\n"),
        ("file:outfile", "Visualize format: -output timeline:key=value,key=value,..."),
        ("file:a=b", "Unrecognized options a for output_type: file\n"),
        ("stdout:outfile=b", "Unrecognized options outfile for output_type: stdout\n"),
        (
            "file",
            "Missing required output_options for file\nE.g. -output file:outfile=...\n",
        ),
        (
            "pprof:",
            "Missing required output_options for pprof\nE.g. -output pprof:outfile=...\n",
        ),
    ],
)
def test_classic_errors_have_the_originals_text(text, message):
    assert refused(parse_classic_output, text) == message


def test_as_a_report_shows_it():
    assert str(Output()) == "stdout:"
    assert str(Output("file", "a,b")) == "file:outfile=a,b"
    assert str(Output("timeline", "t", True)) == "timeline:steps=all,outfile=t"

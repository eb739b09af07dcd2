"""The description of the command line that pages and completion are made from."""

import click
import pytest

from tfprof.cli.options import BoolType, Command, CommandOption, view_options
from tfprof.cli.reference import (
    OptionReference,
    Paragraph,
    command_reference,
    program_reference,
)
from tfprof.cli.registry import COMMANDS

pytestmark = pytest.mark.one_engine


class Fruit(click.Argument):
    section = "Input"

    def get_help_record(self, ctx):
        return "FRUIT", "What to eat."


class Source(click.Argument):
    def get_help_record(self, ctx):
        return "PATH", "Where it comes from."


COMMAND = Command(
    "eat",
    params=[
        Fruit(["fruit"], type=click.Choice(["apple", "pear"])),
        Source(["source"]),
        click.Argument(["paths"], nargs=-1, metavar="[PATH]...", required=False),
        CommandOption(["-o", "--outfile"], metavar="FILE", section="Result", help="Where to."),
        CommandOption(["--files"], metavar="FILES", multiple=True, section="Input", help="From."),
        CommandOption(["--bits"], is_flag=True, section="Result", help="In bits."),
        CommandOption(["--warm/--no-warm"], default=None, section="Result", help="Heat it."),
        CommandOption(["--sure"], type=BoolType(), metavar="[BOOL]", section="Result", help="?"),
        CommandOption(["--into"], type=click.Path(file_okay=False), metavar="WHERE", help="A."),
        CommandOption(["--from"], type=click.Path(), metavar="WHERE", help="A."),
        CommandOption(["--secret"], hidden=True, metavar="N"),
        CommandOption(
            ["--format"], type=click.Choice(["text", "json"]), section="Result",
            help="text: to read. json: all of it. [default: text on a terminal, else json]",
        ),
        *(option for option in view_options() if option.name in ("select", "order_by", "output")),
    ],
    help="Eat it.\n\nSecond\nline.\n\n\b\nkept  as\n  it is",
    examples=["tfprof eat apple"],
)  # fmt: skip

PROGRAM = click.Group("tfprof")


@pytest.fixture
def eat():
    return command_reference(
        "eat", "Eat: what there is.", COMMAND, click.Context(PROGRAM, info_name="tfprof")
    )


def by_name(command):
    return {option.names[-1]: option for option in command.options}


@pytest.mark.parametrize(
    ("name", "kind", "metavar"),
    [
        ("--outfile", "file", "FILE"), ("--files", "files", "FILES"), ("--bits", "none", ""),
        ("--no-warm", "none", ""), ("--sure", "bool", "[BOOL]"), ("--into", "folder", "WHERE"),
        ("--from", "file", "WHERE"), ("--format", "choice", "text|json"),
        ("--select", "choices", "LIST"), ("--order_by", "choice", "TEXT"),
        ("--output", "output", "TEXT"), ("--help", "none", ""),
    ],
)  # fmt: skip
def test_what_follows_an_option(eat, name, kind, metavar):
    option = by_name(eat)[name]
    assert (option.kind, option.metavar) == (kind, metavar)
    assert option.takes_value == (kind not in ("none", "bool"))


def test_an_option_keeps_its_spellings_its_section_and_whether_it_repeats(eat):
    options = by_name(eat)
    assert options["--outfile"].names == ("-o", "--outfile")
    assert options["--no-warm"].names == ("--warm", "--no-warm")
    assert options["--files"].is_repeatable
    assert not options["--outfile"].is_repeatable
    assert options["--bits"].section == "Result"
    assert "--secret" not in options


def test_choices_are_those_of_click_or_of_the_table_of_options(eat):
    options = by_name(eat)
    assert options["--format"].choices == ("text", "json")
    assert options["--select"].choices[:3] == ("auto", "bytes", "micros")
    assert options["--order_by"].choices[:2] == ("auto", "name")
    assert options["--order_by"].is_of_views
    assert not options["--format"].is_of_views


def test_arguments_and_texts(eat):
    fruit, source, paths = eat.arguments
    assert (fruit.metavar, fruit.kind, fruit.choices) == ("FRUIT", "choice", ("apple", "pear"))
    assert (fruit.section, fruit.help) == ("Input", "What to eat.")
    assert (source.metavar, source.kind, source.is_repeatable) == ("PATH", "file", False)
    assert (paths.kind, paths.is_repeatable) == ("file", True)
    assert eat.usage == "tfprof eat [OPTIONS] {apple|pear} SOURCE [PATH]..."
    assert eat.examples == ("tfprof eat apple",)
    assert eat.help == (
        Paragraph("Eat it."), Paragraph("Second line."), Paragraph("kept  as\n  it is", True),
    )  # fmt: skip
    assert list(eat.sections())[:2] == ["Input", "Arguments"]


def option(text, choices=()):
    kind = "choice" if choices else "text"
    return OptionReference(("--x",), "N", kind, choices, False, "Result", text)


@pytest.mark.parametrize(
    ("text", "default", "without"),
    [
        ("Deep. [default: all]", "all", "Deep."),
        ("Deep.", "", "Deep."),
        ("Deep. [levels, default 10; in scope]", "10", "Deep."),
        ("Deep. [default '']", "''", "Deep."),
        ("The [x] kind.", "", "The [x] kind."),
    ],
)
def test_the_default_is_read_from_the_help_text(text, default, without):
    assert (option(text).default, option(text).text) == (default, without)


def test_a_summary_is_the_first_sentence():
    files = option("Files such as .gz or .xz. Without it, none.")
    assert files.summary_of("--x") == "Files such as .gz or .xz"
    formats = option("text: to read. json: all. [default: text]", ("text", "json"))
    assert formats.summary_of("--x") == "text: to read. json: all"


def test_the_summary_of_the_opposite_says_so(eat):
    warm = by_name(eat)["--no-warm"]
    assert warm.summary_of("--warm") == "Heat it"
    assert warm.summary_of("--no-warm") == "The opposite of --warm"


def test_every_command_is_there_in_order():
    reference = program_reference()
    assert [command.name for command in reference.commands] == list(COMMANDS)
    assert all(command.summary and command.help for command in reference.commands)
    names = [name for names, _ in reference.groups() for name in names]
    assert sorted(names) == sorted(["", *COMMANDS])


def test_options_may_stand_before_the_command():
    program = program_reference().program
    assert {"--version", "--help", "--graph_path", "--demo"} <= {
        name for option in program.options for name in option.names
    }
    assert program.arguments[0].choices == tuple(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name):
    """A help text, a section, and a name for the value if there is one."""
    command = next(c for c in program_reference().commands if c.name == name)
    lacking = [
        option.names[-1]
        for option in command.options
        if not option.help
        or (option.section == "Other" and "--help" not in option.names)
        or (option.kind != "none" and not option.metavar)
    ]
    assert lacking == []

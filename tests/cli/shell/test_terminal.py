"""The real shell in a pseudo-terminal: typing, keys, sizes, ways to end."""

import os
import shutil
import sys

import pytest

from ..conftest import GRAPH

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="needs pseudo-terminals"),
    pytest.mark.slow,
    pytest.mark.one_engine,
]


@pytest.fixture
def screen(tmp_path):
    from ..screen import Screen

    opened = []

    def start(*words, **options):
        opened.append(Screen(*words, cwd=tmp_path, **options))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


UP, TAB, CTRL_C, CTRL_D, RIGHT = "\x1b[A", "\t", "\x03", "\x04", "\x1b[C"


def test_a_session(screen):
    shell = screen("--demo").wait_for_prompt()
    assert shell.lines[0].startswith("help lists the commands, ")
    shell.type("op -order_by micros -max_depth 3\r")
    shell.wait_for("Conv2DBackpropFilter", "total").wait_for_prompt()
    shell.type("\r").wait_for("-min_bytes", "-order_by                   auto").wait_for_prompt()
    shell.type("nonsense\r").wait_for("error: no such command: 'nonsense'").wait_for_prompt()
    shell.type("set -order_by bytes\r").wait_for_prompt()
    shell.type("\r").wait_for("-order_by                   bytes").wait_for_prompt()
    shell.type(CTRL_D)
    assert shell.end() == 0


def test_tab_completes_commands_options_values_and_names(screen):
    shell = screen("--demo", rows=40).wait_for_prompt()
    shell.type("sco" + TAB).wait_for("tfprof> scope")
    shell.type(" -order_by mi" + TAB).wait_for("tfprof> scope -order_by micros")
    shell.type(" -show_name_regexes resn" + TAB).wait_for("-show_name_regexes resnet50/")
    shell.type(CTRL_C).wait_for_prompt()
    shell.type("op -select " + TAB)
    shell.wait_for("float_ops", "residual_bytes")
    shell.type(CTRL_C).wait_for_prompt()
    shell.type("op -account_type_regexes _tr" + TAB).wait_for("_trainable_variables")
    shell.type(CTRL_C).wait_for_prompt()
    shell.type("op -step " + TAB).wait_for("-1")


def test_lines_are_remembered_over_sessions(screen, tmp_path):
    history = str(tmp_path / "history")
    first = screen("--demo", TFPROF_HISTORY=history).wait_for_prompt()
    first.type("set -max_depth 7\r").wait_for_prompt()
    first.type("quit\r")
    assert first.end() == 0
    second = screen("--demo", TFPROF_HISTORY=history).wait_for_prompt()
    second.type_until(UP, "tfprof> set -max_depth 7")  # the file is read in a thread
    second.type(CTRL_C).wait_for_prompt()
    # The rest is a suggestion. The line dropped above it has the same text: wait for the last one.
    second.type("set -m").wait_for_prompt("tfprof> set -max_depth 7")
    second.type(RIGHT + "\r").wait_for_prompt()
    second.type("\r").wait_for("-max_depth                  7")


def test_no_history(screen, tmp_path):
    history = tmp_path / "history"
    shell = screen("--demo", "--no-history", TFPROF_HISTORY=str(history)).wait_for_prompt()
    shell.type("set\r").wait_for("-step").type("quit\r")
    assert shell.end() == 0
    assert not history.exists()


def test_a_history_that_can_not_be_written_is_reported(screen, tmp_path):
    (tmp_path / "file").touch()
    shell = screen("--demo", TFPROF_HISTORY=str(tmp_path / "file" / "h"), columns=300)
    shell.wait_for("cannot be written, so the lines of this session are not saved")
    shell.wait_for_prompt()


def test_ctrl_c_drops_the_line_and_ends_a_command_only(screen):
    shell = screen("--demo").wait_for_prompt()
    shell.type("op -max").wait_for("tfprof> op -max").type(CTRL_C).wait_for_prompt()
    shell.type("op | (expr 6 '*' 7; sleep 60)\r").wait_for("\n42")
    shell.type(CTRL_C).wait_for("interrupted").wait_for_prompt()
    shell.type("op -order_by micros\r").wait_for("Conv2DBackpropFilter").wait_for_prompt()


def test_the_size_may_change(screen):
    shell = screen("--demo", columns=100).wait_for_prompt()
    shell.resize(24, 60)
    shell.type("op -order_by micros\r").wait_for("Conv2DBackpropFilter").wait_for_prompt()
    shell.type("help\r").wait_for("Tab completes").wait_for_prompt()
    shell.type("op -order_by bytes\r").wait_for("Conv2DBackpropFilter").wait_for_prompt()
    assert max(map(len, shell.lines)) <= 60


def test_remarks_on_what_is_read_stand_above_the_prompt(screen, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "graph.pbtxt").write_text(GRAPH)
    (run / "notes.txt").write_text("Batch of 8.")
    shell = screen("run/").wait_for("note: not read").wait_for_prompt()
    assert shell.lines == [
        "help lists the commands, Tab completes, Ctrl-D ends.",
        "note: not read, as no part of a profile: run/notes.txt (text file)",
        "tfprof>",
    ]


def test_lines_that_are_pasted_together_run_one_by_one(screen):
    shell = screen("--demo").wait_for_prompt()
    shell.type("\x1b[200~set -max_depth 7\nset -step 0\n\x1b[201~").wait_for("set -step 0")
    shell.type("\r").wait_for_prompt().type("\r")
    shell.wait_for("-max_depth                  7", "-step                       0")
    assert "error" not in shell.text


def test_up_looks_for_lines_that_begin_like_this_one(screen):
    shell = screen("--demo").wait_for_prompt()
    for line in ("set -max_depth 7", "nonsense"):
        shell.type(f"{line}\r").wait_for_prompt()
    shell.type("se" + UP).wait_for_prompt("tfprof> set -max_depth 7")


@pytest.mark.skipif(shutil.which("less") is None, reason="needs less")
def test_less_shows_colours_and_pages_help(screen):
    shell = screen("--demo", rows=12, PAGER="less", LESS="").wait_for_prompt()
    shell.type("scope -max_depth 3 -max_rows 40\r").wait_for("gradients", "\n:")
    assert "ESC" not in shell.text
    shell.type("q").wait_for_prompt()
    shell.type("help\r").wait_for("Commands:\n  op ", "\n:")
    shell.type("q").wait_for_prompt()
    shell.type("help op\r").wait_for("Usage: op", "\n:")
    shell.type("q").wait_for_prompt()
    shell.type("pager=no\r").wait_for_prompt()
    shell.type("help\r").wait_for("names of the profile.").wait_for_prompt()


def test_ctrl_z_stops_the_program_and_fg_goes_on(screen):
    shell = screen("--demo", through="bash --norc -i -s", PS1="$ ").wait_for_prompt("$")
    shell.type('"$@"\r').wait_for_prompt()
    shell.type("op -max").wait_for("tfprof> op -max").type("\x1a").wait_for("Stopped")
    shell.wait_for_prompt("$").type("fg\r").wait_for_prompt("tfprof> op -max")
    shell.type(CTRL_C).wait_for_prompt().type("quit\r").wait_for_prompt("$")


def test_a_dumb_terminal(screen):
    shell = screen("--demo", TERM="dumb").wait_for_prompt()
    shell.type("op -order_by micros\n").wait_for("Conv2DBackpropFilter").wait_for_prompt()
    assert "\x1b" not in shell.text
    shell.type(CTRL_C).wait_for("^C").wait_for_prompt()
    shell.type("quit\n")
    assert shell.end() == 0


def test_a_long_result_is_paged(screen):
    shell = screen("--demo", PAGER="head -n 2").wait_for_prompt()
    shell.type("help op | wc -l\r").wait_for_prompt()
    shell.type("scope\r").wait_for("scope  ").wait_for_prompt()
    assert "_TFProfRoot" not in shell.text


def test_what_can_not_be_read_opens_no_shell(screen):
    shell = screen("--profile_path", "no/such")
    assert shell.end() == 3
    assert shell.text.count("no/such: cannot be read") == 1
    assert "Traceback" not in shell.text


def test_scripts_are_piped_in(tmp_path):
    import subprocess

    from ..conftest import environment

    ops = "op -order_by name -max_depth 100 -select occurrence"
    script = f"\ufeff# costs\n{ops}\nxyzzy\n\nset -step 0\nquit\nop\n"
    done = subprocess.run(
        [sys.executable, "-m", "tfprof", "--demo"],
        input=script, capture_output=True, text=True, encoding="utf-8", env=environment(),
        cwd=tmp_path, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "error: no such command: 'xyzzy'; help lists them\n"
    assert done.stdout.count("Profile:") == 1
    assert done.stdout.endswith(f"{'-static_float_ops':<28}false\n")
    assert "tfprof>" not in done.stdout
    assert "\x1b" not in done.stdout


def test_classic_mode_lists_the_originals_options(tmp_path):
    import subprocess

    from ..conftest import environment

    done = subprocess.run(
        [sys.executable, "-m", "tfprof", "--demo", "--classic"], input="set\nop -max_depth 1\n",
        capture_output=True, text=True, env=environment(), cwd=tmp_path, timeout=60, check=True,
    )  # fmt: skip
    assert f"{'-order_by':<28}name\n" in done.stdout
    assert f"{'-select':<28}micros\n" in done.stdout
    assert "\nAbs  " in done.stdout
    assert done.stderr == ""

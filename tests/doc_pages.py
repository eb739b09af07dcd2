"""Pages of documentation as programs: what their blocks print is compared with what they quote.

Each page starts in an empty folder; ``REPOSITORY`` is where it finds recorded files.

Blocks of a page run in order, in one folder. A ``text`` block right below a block of ``sh`` or
``python`` quotes what that prints; a ``text`` block that begins with the shell's prompt is a
session on the recorded step. A line ``…`` stands for any lines that are left out.
"""

import contextlib
import difflib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

import tfprof
from tfprof.cli.commands.shell import NOT_IN_A_SHELL
from tfprof.cli.program import cli
from tfprof.cli.registry import find_command, sections
from tfprof.cli.shell.shell import Shell

ROOT = Path(__file__).parents[1]
PROMPT = "tfprof> "
LEFT_OUT = "…"

_BLOCK = re.compile(
    r"(?:<!-- (?P<marker>[^\n]+) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)\n```(?P<gap>\s*)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A block of a page; ``marker`` is the comment above it, ``is_quoted`` whether it answers."""

    language: str
    code: str
    marker: str
    is_quoted: bool

    @property
    def needs_tensorflow(self):
        return self.marker == "needs TensorFlow"

    @property
    def needs_jax(self):
        return self.marker == "needs JAX"

    @property
    def exit_codes(self):
        """What its commands may exit with."""
        found = re.fullmatch(r"exits with (\d+)(?: or (\d+))?", self.marker)
        return {int(code) for code in found.groups() if code} if found else {0}


def page_blocks(page):
    """The blocks of a page, in order."""
    found = []
    end = 0
    for match in _BLOCK.finditer(page.read_text("utf-8")):
        above = found[-1].language if found and match.start() == end else ""
        is_quoted = match["language"] == "text" and above in ("sh", "python")
        found.append(Block(match["language"], match["code"], match["marker"] or "", is_quoted))
        end = match.end()
    return found


def command_lines(block):
    """The lines of a shell block, without those that install something."""
    lines = block.code.replace("\\\n", " ").splitlines()
    return [line for line in lines if line and not line.startswith("pip ")]


def page_commands(page):
    """Words of each ``tfprof …`` line of a page."""
    lines = [
        shlex.split(line, comments=True)
        for block in page_blocks(page)
        if block.language == "sh"
        for line in command_lines(block)
    ]
    return [words[1:] for words in lines if words[:1] == ["tfprof"]]


def run_page(page, folder, capfd):
    """Run all blocks that need neither TensorFlow nor JAX in a folder, which is the current one.

    Yields:
        What ran, what the page quotes, and what was printed, as texts; the quotation is None if
        there is none.
    """
    if page == ROOT / "README.md":  # whose reader is in the repository
        (folder / "tests").symlink_to(ROOT / "tests", target_is_directory=True)
    namespace = {"__name__": page.stem}
    found = page_blocks(page)
    for block, below in zip(found, [*found[1:], None], strict=True):
        quoted = below.code if below is not None and below.is_quoted else None
        needs_none = not (block.needs_tensorflow or block.needs_jax)
        if block.language == "python" and needs_none:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(block.code, page.name, "exec"), namespace)
            yield block.code, quoted, printed.getvalue()
        elif block.language == "sh":
            lines = command_lines(block)
            printed = "".join(_run_line(line, folder, block.exit_codes) for line in lines)
            yield "\n".join(lines), quoted, printed
        elif block.code.startswith(PROMPT.rstrip()) and not block.is_quoted:
            yield from _run_session(block.code, capfd)


def is_quotation(quoted, printed):
    """Whether these lines were printed, and no others where none are left out."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == LEFT_OUT else re.escape(line.rstrip()) + r"\n"
        for line in quoted.strip("\n").splitlines()
    )
    text = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    return re.fullmatch(pattern, text) is not None


def requoted(quoted, printed):
    """A quotation brought up to date: what was left out stays left out.

    Lines that are quoted and printed stay; lines that are printed in the place of quoted ones
    replace them. Read the difference: a quotation that has nothing to hold on to is emptied.
    """
    old = [line.rstrip() for line in quoted.strip("\n").splitlines()]
    new = [line.rstrip() for line in printed.strip("\n").splitlines()]
    if LEFT_OUT not in (line.strip() for line in old):
        return "\n".join(new)
    found = []
    for kind, first, last, start, end in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            found += old[first:last]
            continue
        gaps = [line for line in old[first:last] if line.strip() == LEFT_OUT]
        n_quoted = last - first - len(gaps)
        gap = gaps[:1] or [LEFT_OUT]
        if end - start <= n_quoted and not gaps:
            found += new[start:end]
        elif n_quoted and old[first].strip() == LEFT_OUT:
            found += [*gap, *new[max(start, end - n_quoted) : end]]
        elif n_quoted:
            found += [*new[start : min(end, start + n_quoted)], *gap]
        else:
            found += gap
    return "\n".join(found)


def _run_line(line, folder, exit_codes):
    if _needs_a_shell(line):
        return _in_bash(line, folder, exit_codes)
    try:  # click before 8.2 mixes stderr into stdout by default
        runner = CliRunner(mix_stderr=False)
    except TypeError:
        runner = CliRunner()
    before = _files(folder)
    words = shlex.split(line, comments=True)
    result = runner.invoke(cli, words[1:], prog_name=words[0])
    assert result.exit_code in exit_codes, f"{line}\n{result.stdout}{result.stderr}"
    printed = result.stdout + result.stderr
    assert printed or _files(folder) != before, f"{line} does nothing"
    return printed


def _files(folder):
    return {(path, path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def _needs_a_shell(line):
    words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
    return words[0] != "tfprof" or any(set(word) <= set("|<>;&()") for word in words if word)


def _in_bash(line, folder, exit_codes):
    bash = shutil.which("bash")
    assert bash is not None, "the pages need bash for lines with pipes"
    program = f'tfprof() {{ {shlex.quote(sys.executable)} -m tfprof "$@"; }}\n{line}'
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8",
        "REPOSITORY": ROOT.as_posix(),
    }  # fmt: skip
    result = subprocess.run(
        [bash, "-c", program], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert result.returncode in exit_codes, f"{line}\n{result.stdout}{result.stderr}"
    return result.stdout + result.stderr


def _run_session(code, capfd):
    files = tfprof.demo_files()
    profiler = tfprof.open_profile(files.graph, files.run_meta, files.op_log)
    shell = Shell(lambda: profiler, sections(without=NOT_IN_A_SHELL), find_command)
    lines = re.split(rf"^{PROMPT.rstrip()}", code, flags=re.MULTILINE)[1:]
    for typed, _, quoted in (line.partition("\n") for line in lines):
        capfd.readouterr()
        shell.run(typed.strip())
        printed = capfd.readouterr()
        yield f"{PROMPT}{typed.strip()}", quoted.rstrip("\n"), printed.out + printed.err

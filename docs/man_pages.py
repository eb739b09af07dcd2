"""Write the manual pages, in the language of man(7), from the commands themselves.

python docs/man_pages.py FOLDER    write tfprof.1 and a page for each command

A release writes them to docs/man, where the build of the package takes them from.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

from tfprof.cli.reference import (
    ArgumentReference,
    CommandReference,
    OptionReference,
    Paragraph,
    ProgramReference,
    program_reference,
)

DATE = "2026-01-01"
"""The format needs a date; the pages follow the version, so it is fixed."""

EXIT_STATUS = {
    0: "Done.",
    1: "A check has found a problem, or another error.",
    2: "A command, an option or an argument is wrong.",
    3: "A file cannot be read or written.",
    4: "The files can be read, but there is nothing to show.",
    5: "An optional package is not installed; the message names it.",
    129: "Ended by SIGHUP, as when a terminal closes; unfinished files are removed.",
    130: "Interrupted by Ctrl-C.",
    143: "Ended by SIGTERM; unfinished files are removed.",
}
"""Exit codes and their meaning."""

ENVIRONMENT = {
    "TFPROF_CLASSIC": "If set to anything but 0, reproduce the original tfprof, errors included, "
    "as with --classic.",
    "TFPROF_THREADS": "Number of threads that read a capture of TensorFlow 2; by default one for "
    "each core, up to four.",
    "TFPROF_PURE": "If set to anything but 0, read files without the compiled reader.",
    "TFPROF_HISTORY": "The file in which tfprof shell saves lines; if it is empty, none are saved.",
    "TFPROF_CACHE": "The folder in which answers are kept; if it is empty, none are. By default "
    "tfprof/answers in XDG_CACHE_HOME.",
    "TFPROF_PEAKS": "The folder of peak rates that tfprof doctor --measure-peaks has measured; if "
    "it is empty, none are read. By default tfprof/peaks in XDG_CACHE_HOME.",
    "TFPROF_RUN": "What to capture of a program of Python that starts with it, as tfprof run does: "
    "the log folder, then options, separated by semicolons.",
    "TFPROF_RUN_LAUNCH": "Set by tfprof run: what the processes of one launch share.",
    "TFPROF_OUTBOX": "The folder of runs on their way to a bucket. By default tfprof/outbox in "
    "XDG_CACHE_HOME.",
    "TFPROF_REMOTE_CACHE": "The folder in which files of other machines are kept; if it is empty, "
    "none are. By default tfprof/remote in XDG_CACHE_HOME.",
    "TFPROF_REMOTE_CACHE_SIZE": "How large that folder may become, such as 500M; 10G by default.",
    "TFPROF_REMOTE_TRIES": "Number of attempts for a request to another machine; 5 by default.",
    "TFPROF_REMOTE_TIMEOUT": "For how many seconds another machine may be silent; 60 by default.",
    "XDG_CACHE_HOME": "See TFPROF_REMOTE_CACHE; by default .cache in the home folder. On Windows "
    "it is LOCALAPPDATA.",
    "XDG_STATE_HOME": "The folder in which the history file is by default. On Windows it is "
    "LOCALAPPDATA.",
    "LOCALAPPDATA": "See XDG_STATE_HOME.",
    "NO_COLOR": "If not empty, use no colours, unless --color is always.",
    "FORCE_COLOR": "If not empty or 0, use colours also if the output is not a terminal.",
    "COLUMNS": "The width of tables in cells, instead of that of the terminal.",
    "PAGER": "The program that pages long texts, instead of less or more.",
    "LESS": "Options of less; by default, colours are shown (-R).",
    "TERM": "If dumb, no colours, no progress line and a plain shell.",
    "COLORTERM": "Which colours the terminal has, see TERM.",
    "LINES": "The height of the terminal in lines.",
    "TTY_COMPATIBLE": "If 1, the output is taken for a terminal's; if 0, it is not.",
    "TTY_INTERACTIVE": "If 0, nothing on the screen moves.",
    "LANG": "The locale, and so the encoding of the output.",
    "PYTHONIOENCODING": "The encoding of the output.",
    "PYTHONUTF8": "If 1, the encoding of the output is UTF-8.",
    "XLA_FLAGS": "Flags of XLA, which tfprof doctor examines.",
    "OMP_NUM_THREADS": "Number of threads that tfprof doctor --measure-peaks multiplies with.",
    "OPENBLAS_NUM_THREADS": "See OMP_NUM_THREADS.",
    "MKL_NUM_THREADS": "See OMP_NUM_THREADS.",
    "DISPLAY": "If it or WAYLAND_DISPLAY is set, tfprof ui opens a browser.",
    "WAYLAND_DISPLAY": "See DISPLAY.",
    "SSH_CONNECTION": "If set, tfprof ui opens no browser on macOS and Windows.",
    "CUDA_HOME": "A CUDA toolkit, where tfprof doctor looks for CUPTI.",
    "CUDA_PATH": "The same as CUDA_HOME, on Windows.",
    "LD_LIBRARY_PATH": "Folders of libraries, which tfprof doctor examines.",
    "KUBERNETES_SERVICE_HOST": "If set, tfprof doctor assumes that it runs in a pod.",
    "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "The implementation of protobuf; tfprof doctor says "
    "if it is a slow one.",
    "COMP_WORDS": "The line up to the cursor, set by the scripts of tfprof completion.",
    "COMP_CWORD": "The part that bash replaces at the end of this line.",
    "PATH": "Folders of the pager and of dot of Graphviz.",
    "PYTHONPATH": "Folders of modules; tfprof run adds one for the program that it starts.",
    "SLURM_JOB_NODELIST": "The hosts of the job that tfprof record --slurm here belongs to.",
}
"""Environment variables and their meaning."""

_GROUPS = {
    "Set by launchers of jobs. Each tells tfprof run the rank of a process": (
        "RANK", "JAX_PROCESS_ID", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
        "HOROVOD_RANK", "TPU_WORKER_ID", "TF_CONFIG",
    ),
    "Set by launchers of jobs. Each tells tfprof run which processes belong together": (
        "SLURM_JOB_ID", "SLURM_STEP_ID", "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE",
    ),
    "Set by services of continuous integration. Each tells tfprof history the commit of a run": (
        "GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "TRAVIS_COMMIT",
        "BITBUCKET_COMMIT", "BUILD_SOURCEVERSION", "DRONE_COMMIT_SHA", "GIT_COMMIT",
    ),
}  # fmt: skip
for _meaning, (_first, *_others) in _GROUPS.items():
    ENVIRONMENT |= {_first: f"{_meaning}.", **dict.fromkeys(_others, f"See {_first}.")}

FILES = {
    "~/.local/state/tfprof/history": "The lines typed into tfprof shell.",
    "share/bash-completion/completions/tfprof": "Completion for bash, below the folder where "
    "tfprof is installed.",
    "share/zsh/site-functions/_tfprof": "The same for zsh.",
    "share/fish/vendor_completions.d/tfprof.fish": "The same for fish.",
}
"""Files and their meaning."""

_SPELLINGS = (
    "Every option may be written -max_depth 4, -max_depth=4, --max_depth=4 or --max-depth 4. "
    "Options and paths may stand before the command. Without a command, tfprof opens its shell."
)
_INPUTS = (
    "tfprof recognizes files by their content, binary or text, plain or compressed by gzip, xz or "
    "zstd, so it is enough to name them or their folder. Options name a file if there is more "
    "than one of a kind."
)


def man_pages(reference: ProgramReference) -> dict[str, str]:
    """The pages by the names of their files."""
    pages = {"tfprof.1": _overview(reference)}
    for command in reference.commands:
        pages[f"tfprof-{command.name}.1"] = _command_page(command, reference)
    return pages


def _overview(reference: ProgramReference) -> str:
    program = reference.program
    lines = _title("tfprof", program.summary, reference)
    lines += [".SH SYNOPSIS", _usage(program.usage), ".br", _usage("tfprof [OPTIONS] [PATH]...")]
    lines += [".SH DESCRIPTION", *_prose(program.summary), ".PP", *_prose(_SPELLINGS)]
    lines.append(".SH COMMANDS")
    for command in reference.commands:
        lines += [".TP", f"\\fBtfprof\\-{escaped(command.name, True)}\\fR(1)"]
        lines += _prose(command.summary)
    lines += [".SH INPUTS", *_prose(_INPUTS)]
    for option in (option for option in program.options if option.section == "Input"):
        lines += _parameter(option)
    lines.append(".SH OPTIONS")
    lines += [line for option in program.options if option.section == "Other"
              for line in _parameter(option)]  # fmt: skip
    lines += [".PP", *_prose("The options of the commands are described in their pages.")]
    lines += [".SH ENVIRONMENT", *_definitions(ENVIRONMENT)]
    lines += [".SH FILES", *_definitions(FILES)]
    lines += [".SH EXIT STATUS", *_definitions({str(k): v for k, v in EXIT_STATUS.items()})]
    examples = [command.examples[0] for command in reference.commands if command.examples]
    return _finished([*lines, *_examples(examples), *_see_also("tfprof", reference)])


def _command_page(command: CommandReference, reference: ProgramReference) -> str:
    name = f"tfprof-{command.name}"
    lines = [*_title(name, command.summary, reference), ".SH SYNOPSIS", _usage(command.usage)]
    lines.append(".SH DESCRIPTION")
    for number, paragraph in enumerate(command.help):
        lines += [".PP"] if number else []
        lines += _paragraph(paragraph)
    lines.append(".SH OPTIONS")
    for title, parameters in command.sections().items():
        lines.append(f".SS {escaped(title)}")
        lines += [line for parameter in parameters for line in _parameter(parameter)]
    lines += _examples(command.examples)
    lines += [".SH EXIT STATUS", *_prose("As in"), "\\fBtfprof\\fR(1)."]
    return _finished([*lines, *_see_also(name, reference)])


def _title(name: str, summary: str, reference: ProgramReference) -> list[str]:
    return [
        '.\\" Written by docs/man_pages.py from the commands; do not edit.',
        f'.TH {escaped(name.upper(), True)} 1 {DATE} "tfprof {reference.version}" "tfprof"',
        ".nh",
        ".ad l",
        ".SH NAME",
        f"{escaped(name, True)} \\- {escaped(summary.rstrip('.'))}",
    ]


def _usage(usage: str) -> str:
    """A line of the synopsis: the program bold, what the user replaces in italics."""
    program, _, rest = usage.partition(" ")
    if rest and not rest.startswith("[") and rest.split()[0].islower():
        name, _, rest = rest.partition(" ")
        program = f"{program} {name}"
    return f"\\fB{escaped(program, True)}\\fR {_italics(rest)}".rstrip()


def _italics(text: str) -> str:
    return re.sub(r"[A-Z]{2,}|\bN\b", lambda found: f"\\fI{found[0]}\\fR", escaped(text, True))


def _parameter(parameter: OptionReference | ArgumentReference) -> list[str]:
    if isinstance(parameter, ArgumentReference):
        head = _italics(parameter.metavar)
    else:
        head = ", ".join(f"\\fB{escaped(name, True)}\\fR" for name in parameter.names)
        head += f" {_italics(parameter.metavar)}" if parameter.metavar else ""
    return [".TP", head, *_prose(parameter.help)]


def _definitions(entries: dict[str, str]) -> list[str]:
    lines = []
    for term, meaning in entries.items():
        lines += [".TP", f"\\fB{escaped(term, True)}\\fR", *_prose(meaning)]
    return lines


def _examples(examples: list[str] | tuple[str, ...]) -> list[str]:
    lines = [".SH EXAMPLES"] if examples else []
    for number, example in enumerate(examples):
        lines += [".PP"] if number else []
        lines += [".EX", escaped(example, True), ".EE"]
    return lines


def _see_also(name: str, reference: ProgramReference) -> list[str]:
    pages = ["tfprof", *(f"tfprof-{command.name}" for command in reference.commands)]
    shown = [f"\\fB\\%{escaped(page, True)}\\fR(1)" for page in pages if page != name]
    return [".SH SEE ALSO", *(f"{page}," for page in shown[:-1]), *shown[-1:]]


def _paragraph(paragraph: Paragraph) -> list[str]:
    if paragraph.is_literal:
        return [".EX", *(escaped(line, True) for line in paragraph.text.splitlines()), ".EE"]
    return _prose(paragraph.text)


def _prose(text: str) -> list[str]:
    """Lines of running text, a sentence on a line of its own, as man(7) likes them."""
    lines = []
    for sentence in re.split(r"(?<=[a-z0-9)][.!?]) (?=[A-Z])", text):
        lines += textwrap.wrap(sentence, 72, break_long_words=False, break_on_hyphens=False)
    return [escaped(line) for line in lines]


def escaped(text: str, is_code: bool = False) -> str:
    r"""Text that man(7) shows as it is.

    Args:
        text: One line.
        is_code: Whether it could be pasted into a terminal: ``-`` and quotes stay what they are.
            In running text this goes for words that begin with ``-``.
    """
    text = text.replace("\\", "\\e")
    if is_code:
        text = text.replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
        text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    else:
        text = re.sub(r"(?<![\w-])-[\w-]+", lambda found: found[0].replace("-", "\\-"), text)
        text = text.replace("~", "\\(ti")
    text = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in text)
    return f"\\&{text}" if text.startswith((".", "'")) else text


def _finished(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the pages into a folder."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stdout.write(f"{__doc__}\n")
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in man_pages(program_reference()).items():
        (folder / name).write_bytes(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

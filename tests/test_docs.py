"""The documentation is true: its code runs, its links lead somewhere, nothing is missing."""

import ast
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import warnings

import pytest

import tfprof
from tfprof.cli.registry import COMMANDS
from tfprof.options.spec import OPTIONS

from .doc_pages import ROOT, is_quotation, page_blocks, page_commands, requoted, run_page

pytestmark = [pytest.mark.slow, pytest.mark.documentation]

README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), ROOT / "examples" / "README.md",
     ROOT / "changelog.d" / "README.md", ROOT / "benchmarks" / "README.md",
     ROOT / "protos" / "README.md", ROOT / "tfprof" / "demo" / "README.md"]
)  # fmt: skip
TUTORIALS = [
    DOCS / "tutorials" / f"{name}.md"
    for name in (
        *("time", "memory", "parameters", "flops", "code_lines", "advice"),
        *("slow_step", "input", "kernels", "device_memory", "workers", "xla"),
        "compare",
        "pages",
    )
]
EXECUTED = [
    README,
    *(DOCS / f"{name}.md" for name in ("tutorial", "migrating", "outputs", "advisor", "flops")),
    DOCS / "command_line.md",
    DOCS / "captures.md",
    DOCS / "collectives.md",
    DOCS / "remote.md",
    DOCS / "fleet.md",
    DOCS / "capture.md",
    DOCS / "run.md",
    DOCS / "sql.md",
    DOCS / "compare.md",
    DOCS / "whatif.md",
    DOCS / "gpu.md",
    DOCS / "assistants.md",
    DOCS / "gate.md",
    DOCS / "history.md",
    DOCS / "mfu.md",
    DOCS / "recompiles.md",
    DOCS / "latency.md",
    DOCS / "metrics.md",
    *TUTORIALS,
    DOCS / "pages.md",
    DOCS / "adding_a_tool.md",
    DOCS / "running_programs.md",
]

PUBLIC_SITES = (
    "https://example.com/",  # an example, by its owner's word
    "https://filesystem-spec.readthedocs.io",
    "http://127.0.0.1:",  # what servers print
    "http://localhost:",
    "https://modelcontextprotocol.io",
    "https://distributed.dask.org",
    "https://docs.python.org/",
    "https://github.com/google/pprof",
    "https://github.com/google/re2/",
    "https://semver.org",
    "https://towncrier.readthedocs.io",
)

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_TEST_NAME = re.compile(r"`(?:([\w/]+\.py))?(?:::)?(test_\w+)`")


def page_id(path):
    return path.relative_to(ROOT).as_posix()


@pytest.fixture
def plain_environment(monkeypatch):
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TFPROF_CLASSIC"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "page",
    [README, *(pytest.param(page, marks=pytest.mark.one_engine) for page in EXECUTED[1:])],
    ids=page_id,
)
def test_pages_do_what_they_say(page, tmp_path, monkeypatch, plain_environment, capfd, request):
    """Every block that needs no TensorFlow, in order, as one program; what they quote is true.

    With ``--update-golden`` quotations that are not are brought up to date: read the difference.
    """
    monkeypatch.chdir(tmp_path)
    n_blocks = 0
    by_python = []
    for code, quoted, printed in run_page(page, tmp_path, capfd):
        n_blocks += 1
        if "import" in code:
            by_python.append(printed)
        if quoted is not None:
            is_stale = quoted and not is_quotation(quoted, printed)
            if is_stale and request.config.getoption("--update-golden"):
                text = page.read_text("utf-8")
                again = text.replace(quoted, requoted(quoted, printed), 1)
                page.write_text(again, encoding="utf-8", newline="\n")
                continue
            assert is_quotation(quoted, printed), f"{code}\nquoted:\n{quoted}\nprints:\n{printed}"
    assert n_blocks or page == EXECUTED[-1]
    if page == README:  # which has no room for quotations
        assert by_python[0].rstrip().endswith("Conv2DBackpropFilter 540609 us")


@pytest.mark.one_engine
def test_all_pages_can_be_followed_in_one_folder(tmp_path, monkeypatch, plain_environment, capfd):
    """As a reader does who makes one folder and reads on: no page trips over another's files."""
    monkeypatch.chdir(tmp_path)
    for page in EXECUTED:
        try:
            for code, quoted, printed in run_page(page, tmp_path, capfd):
                said = f"{page_id(page)}: {code}\nquoted:\n{quoted}\nprints:\n{printed}"
                assert quoted is None or is_quotation(quoted, printed), said
        except Exception as error:
            raise AssertionError(f"{page_id(page)}: {error}") from error


def test_quotations():
    printed = "\na\nb  \nc\nd\n"
    for quoted in ("a\nb\nc\nd", "…", "a\n…", "…\nd", "a\n…\nc\n…", "…\nb\nc\n…", "…\nb\n…\nd"):
        assert is_quotation(quoted, printed), quoted
    for quoted in ("", "a", "a\nb\nc", "b\n…", "a\nc\n…", "…\nc", "…\nc\n…\nb\n…", "…\ne\n…"):
        assert not is_quotation(quoted, printed), quoted
    assert is_quotation("", "\n")


def test_tutorials_show_commands_and_what_they_print():
    for page in TUTORIALS:
        quotations = [block for block in page_blocks(page) if block.is_quoted]
        assert len(page_commands(page)) >= 4, page_id(page)
        assert len(quotations) >= 4, page_id(page)


def test_no_command_stands_where_it_is_not_run():
    for page in (README, DOCS / "tutorial.md", DOCS / "command_line.md", *TUTORIALS):
        shown = [block.code for block in page_blocks(page) if block.language == "text"]
        lines = [line for code in shown for line in code.splitlines()]
        unrun = [line for line in lines if re.match(r"(\$ )?tfprof [^:]", line)]
        assert unrun == [], page_id(page)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "page",
    [page for page in EXECUTED if "<!-- needs TensorFlow -->" in page.read_text("utf-8")],
    ids=page_id,
)
def test_python_with_tensorflow_runs(page, tmp_path, monkeypatch):
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("needs an installed TensorFlow")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TensorFlow's own
        import tensorflow  # noqa: F401

        variables = {}  # a block may use those of the blocks above
        for block in page_blocks(page):
            if block.needs_tensorflow:
                exec(compile(block.code, page_id(page), "exec"), variables)
    if page.name == "tutorial.md":
        names = ["graph.pb", "logs", "run_meta.pb", "tfprof_log", "train_dir"]
        assert [path.name for path in sorted(tmp_path.iterdir())] == names
        profiler = tfprof.Profiler(*[str(tmp_path / name) for name in ("graph.pb", "tfprof_log")])
        profiler.add_step(0, str(tmp_path / "run_meta.pb"))
        assert profiler.view("code").root.total_float_ops > 0


@pytest.mark.jax
@pytest.mark.parametrize(
    "page",
    [page for page in EXECUTED if "<!-- needs JAX -->" in page.read_text("utf-8")],
    ids=page_id,
)
def test_blocks_that_need_jax(page, tmp_path):
    """In a process of its own, whose only framework is JAX."""
    pytest.importorskip("jax")
    program = "\n".join(block.code for block in page_blocks(page) if block.needs_jax)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True,
        text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("*logs/plugins/profile/*/*.xplane.pb"))) == 1


def test_the_first_page_leads_to_every_tutorial():
    assert sorted(TUTORIALS) == sorted((DOCS / "tutorials").glob("*.md"))
    text = (DOCS / "tutorial.md").read_text("utf-8")
    assert [page for page in TUTORIALS if f"(tutorials/{page.name})" not in text] == []


def test_there_are_command_lines():
    assert len(page_commands(README)) >= 2
    assert len(page_commands(DOCS / "tutorial.md")) >= 4
    assert len(page_commands(DOCS / "command_line.md")) >= 10


def test_the_readmes_two_commands_can_be_found_by_the_checks():
    text = README.read_text("utf-8")
    for name in ("demo", "test"):
        pattern = rf"<!-- ci: {name} -->\s*```sh\n([^\n]+)\n```"
        assert len(re.findall(pattern, text)) == 1


def test_the_sessions_that_are_named_are_those_of_nox():
    noxfile = (ROOT / "noxfile.py").read_text("utf-8")
    sessions = set(re.findall(r"@nox\.session(?:\(.*\))?\n(?:@.*\n)*def (\w+)", noxfile))
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert sessions == set(re.findall(r"^\| `(\w+)` \|", guide, re.MULTILINE))
    workflows = (ROOT / ".github" / "workflows").glob("*.yml")
    for path in (ROOT / "CONTRIBUTING.md", ROOT / "RELEASING.md", ROOT / ".ci" / "run", *workflows):
        called = re.findall(r"(?:nox -s|'\w+ sessions) (\w+(?: \w+)*)", path.read_text("utf-8"))
        assert called, path
        assert set(" ".join(called).split()) <= sessions, path


def _thorough_tests():
    found = re.search(
        r"^THOROUGH_TESTS = (\(.*?^\))", (ROOT / "noxfile.py").read_text("utf-8"), re.M | re.S
    )
    return ast.literal_eval(found[1])


def test_marked_tests_lie_where_their_sessions_look():
    pages = ("test_docs.py", "test_examples.py", "test_package.py", "test_reference_pages.py")
    places = {
        "browser": "ui/web/",
        "documentation": pages,
        "gym": "truth/",
        "models": "published/",
        "oracle": "oracle/",
        "readers": "readers/",
        "thorough": _thorough_tests(),
    }
    tests = ROOT / "tests"
    found = [
        f"{marker}: {name}"
        for path in sorted(tests.rglob("test_*.py"))
        for marker in re.findall(r"pytest\.mark\.(\w+)", path.read_text("utf-8"))
        for name in [path.relative_to(tests).as_posix()]
        if not name.startswith(places.get(marker, ""))
    ]
    assert found == []


def anchors(page):
    """What headings of a page are called in addresses, as code hosts name them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def test_links_lead_somewhere():
    broken = []
    for page in PAGES:
        for target in _LINK.findall(page.read_text("utf-8")):
            if target.startswith(("http://", "https://")):
                continue
            path, _, anchor = target.partition("#")
            place = (page.parent / path).resolve() if path else page
            if not place.exists() or (anchor and anchor not in anchors(place)):
                broken.append(f"{page_id(page)}: {target}")
    assert broken == []


def test_addresses_are_of_public_documentation():
    found = [
        f"{page_id(page)}: {address}"
        for page in PAGES
        for address in re.findall(r"https?://[^\s)\"'`>]+", page.read_text("utf-8"))
        if not address.startswith(PUBLIC_SITES)
    ]
    assert found == []


def test_every_option_is_described():
    page = (DOCS / "options.md").read_text("utf-8")
    assert [o.name for o in OPTIONS if f"\n## {o.name}\n" not in page] == []
    assert [o.name for o in OPTIONS if o.help not in page] == []


def test_the_page_of_options_is_fresh(monkeypatch, capsys, tmp_path):
    spec = importlib.util.spec_from_file_location("options_page", DOCS / "generate_options.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.main(["--check"]) == 0, capsys.readouterr().out
    assert script.main(["--what"]) == 2
    monkeypatch.setattr(script, "TARGET", tmp_path / "options.md")
    assert script.main(["--check"]) == 1
    assert script.main([]) == 0
    assert script.main(["--check"]) == 0


def test_every_public_name_is_mentioned():
    text = "".join(page.read_text("utf-8") for page in (README, *DOCS.rglob("*.md")))
    assert [n for n in tfprof.__all__ if f"`{n}`" not in text and f"`tfprof.{n}`" not in text] == []


def test_every_public_name_is_in_the_table_or_among_the_errors():
    text = (DOCS / "tutorial.md").read_text("utf-8").partition("\n## Errors")[2]
    assert [n for n in tfprof.__all__ if not re.search(rf"`(tfprof\.)?{n}`", text)] == []


def test_every_name_of_compat_v1_is_mentioned():
    from tfprof.compat import v1

    text = (DOCS / "migrating.md").read_text("utf-8")
    assert [name for name in v1.__all__ if f"`{name}`" not in text] == []


def test_every_exit_code_is_mentioned():
    text = (DOCS / "tutorial.md").read_text("utf-8")
    for error in vars(tfprof.errors).values():
        if inspect.isclass(error) and issubclass(error, tfprof.TfprofError):
            if error is tfprof.TfprofError:
                continue
            assert re.search(rf"\| `{error.__name__}`.*\| {error.exit_code} \|", text), error


def test_every_command_is_mentioned():
    remote = DOCS / "remote_capture.md"  # which tests/remote/test_page.py executes
    text = "".join(page.read_text("utf-8") for page in (*EXECUTED, remote))
    missing = [name for name in COMMANDS if not re.search(rf"tfprof {name}\b", text)]
    # The graph view is described, but needs no example of its own.
    assert [name for name in missing if f"`{name}`" not in text] == []


def test_the_architecture_answers_questions_with_files_that_exist():
    text = (DOCS / "architecture.md").read_text("utf-8")
    questions = re.findall(r"^\| ([^|]+\?) \| (.*) \|$", text, re.MULTILINE)
    assert len(questions) >= 20
    for question, answer in questions:
        assert re.search(r"`[\w/]+\.py`", answer), question
    named = re.findall(r"`([\w/]+(?:\.py|/))`", text)
    around = ("tests/", *(f"{name}/" for name in ("protos", "fuzz", "benchmarks", "examples")))
    wings = [ROOT / "tfprof" / wing for wing in ("graphs", "captures", "profiles")]
    for name in named:
        if name.startswith(around) or (ROOT / name).exists():
            continue
        places = [ROOT / "tfprof" / name, *(wing / name for wing in wings)]
        in_tests = name in ("oracle/", "property/", "truth/")
        assert in_tests or any(place.exists() for place in places), name


def test_every_test_named_in_the_differences_exists():
    page = DOCS / "differences.md"
    missing = []
    for line in page.read_text("utf-8").splitlines():
        if not line.startswith("|"):
            continue
        cell = line.rstrip(" |").rpartition("|")[2]
        file = "test_crash_list.py"
        named = _TEST_NAME.findall(cell)
        for path, name in named:
            file = path or file
            source = (ROOT / "tests" / file).read_text("utf-8")
            if f"def {name}(" not in source:
                missing.append(f"{file}::{name}")
        assert named or not re.match(r"\| (Q\d+|–) ", line), f"no test in: {line}"
    assert missing == []


def test_every_decision_is_in_the_index():
    index = (DOCS / "adr" / "README.md").read_text("utf-8")
    pages = sorted(path.name for path in (DOCS / "adr").glob("0*.md"))
    assert re.findall(r"\]\((0\d+-[\w-]+\.md)\)", index) == pages
    assert [int(name[:4]) for name in pages] == list(range(1, len(pages) + 1))
    for name in pages:
        text = (DOCS / "adr" / name).read_text("utf-8")
        for heading in ("Status: ", "## Context", "## Decision", "## Consequences"):
            assert heading in text, (name, heading)


def test_the_picture_of_the_demo_is_fresh(plain_environment, tmp_path):
    script = tmp_path / "make_demo_svg.py"
    shutil.copy(DOCS / "images" / "make_demo_svg.py", script)
    spec = importlib.util.spec_from_file_location("make_demo_svg", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    words = re.findall(r">([^<>\n]+)</text>", module.picture())
    shown = re.findall(r">([^<>\n]+)</text>", (DOCS / "images" / "demo.svg").read_text("utf-8"))
    # Positions and colours may differ between releases of rich, the words may not.
    assert words == shown

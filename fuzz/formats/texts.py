"""What people write: budgets, options, patterns, lines of a shell, and logs."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from functools import partial

from fuzz.case import Format
from fuzz.formats.documents import changed_json, changed_lines
from fuzz.formats.messages import odd_text
from tfprof.captures.run.hang_record import Frame, Hang, Rank, Thread
from tfprof.options.spec import ORDER_BY, SELECT
from tfprof.remote.flight.retention import WRITER

_BUDGETS = (
    b"""parameters = "<= 25.6 M"
peak_memory = ["<= 12 GB", "<= +5 %"]
retraces = 0

[op_time]
"MatMul|Conv2D" = "<= 12.5 ms"

[traces]
"^train_step$" = 2

[settings]
batch = 32
confidence = 0.9
device = "h100"
""",
    b'step_time = "25ms"\nmfu = ">= 40 %"\nflops.total = 7\n[scope_time]\n\'a/.*\' = "+5 %"\n',
)
_LIMITS = (
    "1e999", "-1", "nan", "inf", '"<= 1_0_0 ms"', '"5 parsecs"', "true", "[]", "{}", '"<= +5 %"',
    '"-100 %"', "1979-05-27T07:32:00Z", "0x" + "f" * 300, '"""\na"""', "[[op_time]]", "[op_time.a]",
    '"(a*)*b" = "1 ms"', "9" * 400, "=", '"\\uD800"', "[settings]", "batch = -1", "batch = 1e3",
    "strict = 1", "confidence = nan", 'device = "cpu:1e9"', "a.b.c.d = 1",
)  # fmt: skip

_PATTERNS = (
    "a{2000}", "(?=a).*", "(a)\\1", "(?>a).*", "a++", "(?#c)a.*", "\\Z", "\\pL+.*", "[[:alpha:]].*",
    "\\Qlayer1/\\E.*", "(?i)MATMUL|layer.*", ".*\\z", "(?s).*", "gr\\x{f6}.*", "a{,2}",
    "(?P<n>a.*)",
    "\\w+(/\\w+)*", "(a|a)*b", "(a*b?)*c", ".*a.*b.*c.*d.*", "(?U).*", "[^/]*", "\\pN*.*", "\\C*",
    "(", "*", "[a", "[]a]", "[a-\\d]", "\\x{110000}", "\\p{Greek}", "(?i)\u017f", "^.*$", "(?m)^a$",
    "(((((a)*)*)*)*)*", "x{1000}{1000}", "(x{500}){2}", "\\8", "\\_", "[\ud7ff-\U0010ffff]", "|",
)  # fmt: skip

_OPTIONS = (
    "max_depth", "min_bytes", "min_micros", "min_float_ops", "min_occurrence", "step", "order_by",
    "account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes",
    "hide_name_regexes", "account_displayed_op_only", "select", "static_float_ops",
)  # fmt: skip
_VALUES = (
    "0", "1", "-1", "10", "9" * 400, "1e3", "0x10", "true", "false", "", ",", "a,b", "\\,", "a\\,b",
    "micros,bytes", "٣", "１", " 5 ", "+5", "1_0", "none", "all", "auto", "stdout", "10:20",
    "20:10",
    ":", "5s", "1h30m", "1e9h", "cpu:16x2.5x32:100", "312e12,1.5e12", "nan,inf", "NVIDIA H100",
    *ORDER_BY, *SELECT,
)  # fmt: skip


def _pattern_word(chance: random.Random) -> str:
    made = "".join(
        chance.choices((*_PATTERNS, odd_text(chance)[:200]), k=chance.choice((1, 1, 2, 4)))
    )
    return chance.choice((made, made, f"({made})*", f"[{made}]", made * 40)).replace("\n", "")


def _limit_word(chance: random.Random) -> str:
    return chance.choice((*_LIMITS, json.dumps(odd_text(chance)[:3000])))


def _option_word(chance: random.Random) -> str:
    return chance.choice(
        (chance.choice(_VALUES), chance.choice(_OPTIONS) + "=" + chance.choice(_VALUES),
         _pattern_word(chance), odd_text(chance)[:3000].replace("\n", " "))
    )  # fmt: skip


def _pattern_lines(n_bytes: int, pattern: str) -> bytes:
    names = [f"layer_{at}/conv/kernel" for at in range(n_bytes // 24)]
    return "\n".join([pattern, *names]).encode()


_SHELL = (
    b"scope -max_depth 3 -order_by bytes -select bytes,micros\nset order_by=name\nop\n\nreset\n",
    b"graph -start_name_regexes '.*MatMul.*' # a note\ncode\nadvise\ninfo\nhelp scope\nflops\n",
    b"set show_name_regexes='dense.*'\nsummary\nexport --table ops\nstep=0\nop -select params\n",
)
_SHELL_WORDS = (
    "scope", "graph", "op", "code", "advise", "info", "flops", "summary", "export", "help", "set",
    "reset", "quit", "--help", "-max_depth", "-select", "--format", "json", "csv", "text",
    "--table",
    "ops", "steps", "'", '"', "\\", "#", "--", "-", "=", "a=b=c",
)  # fmt: skip


def _shell_word(chance: random.Random) -> str:
    """Words of commands that only read; nothing that writes a file or starts a program."""
    word = chance.choice(
        (chance.choice(_SHELL_WORDS), "-" + _option_word(chance), _option_word(chance))
    )
    return word.replace(">", "").replace("|", "/")[:2000]


_JAX_LOG = (
    b"2026-01-01 INFO TRACING CACHE MISS at a.py:3 (f) costing 5 ms because:\n"
    b"  never seen function:\n  f id=139 defined at a.py:1\n"
    b"Finished tracing + transforming f for pjit in 0.001234 sec\n"
    b"Compiling f with global shapes and types [ShapedArray(float32[8])]. Argument mapping: (U,).\n"
    b"Finished jaxpr to MLIR module conversion jit(f) in 0.002 sec\n"
    b"PERSISTENT COMPILATION CACHE MISS for 'jit_f' with key 'jit_f-abc'\n"
    b"Finished XLA compilation of jit(f) in 0.5 sec\n",
    b"TRACING CACHE MISS at b.py:9 (g) costing 1 ms because:\n"
    b"  for g defined at b.py:2\n  different input types\n"
    b"    * at x, now f32[3] and before f32[4]\n"
    b"Finished tracing + transforming g for pjit in 1e-3 sec\n"
    b"Persistent compilation cache hit for 'jit_g'\nCompiling jit(g) with global shapes and types "
    b"[]. Argument mapping: ().\n",
)
_STACKS = (
    b"Current thread 0x00007f0a1b2c3d40 [python] (most recent call first):\n"
    b'  File "a.py", line 3 in f\n  File "a.py", line 9 in <module>\n\n'
    b'Thread 0x00007f0a1b2c3d41 (most recent call first):\n  File "b.py", line ??? in g\n',
)


def _log_word(chance: random.Random) -> str:
    return chance.choice(
        ("f", "jit(f)", "9" * 9, "9" * 30, "1e-99", "0.1.2", "sec", "(", "for pjit in",
            "TRACING CACHE "
         "MISS at", "id=", "File", '"a.py",', "line", "٣", "Static(val=" * 50,
         odd_text(chance)[:3000])
    )  # fmt: skip


# Records that tfprof itself has written

_MAIN = Thread("MainThread", (Frame("f", "a.py", 3), Frame("main", "a.py", 9)), is_main=True)
_HANG = Hang(
    time=1.7e9, since=1.69e9, usual_seconds=2.5, named=(0,), basis="it alone is outside",
    ranks=(
        Rank("a:6009", 0, 5, "stands", 60.0, 7, "all-reduce", "", 3.0, (_MAIN,), "faulthandler"),
        Rank("b:6009", 1, None, "silent", 61.0, stacks_reason="it is on another host"),
    ),
)  # fmt: skip
_PY_SPY = [{"thread_name": "MainThread", "thread_id": 1, "os_thread_id": 5, "pid": 5,
            "frames": [{"name": "f", "filename": "a.py", "line": 3}]}]  # fmt: skip

_RECORDS: Mapping[str, object] = {
    "hang": json.loads(_HANG.to_json()),
    "capture": {"missing": [{"severity": "warning", "message": "m", "host": "a"}], "writer": "x"},
    "recorder": {"writer": WRITER, "time": 1.7e9, "reason": "a slow step"},
    "costs": {"flash_*": {"flops": 4.3e9, "bytes": 2.1e7}, "mine": {"flops": 7}},
    "peaks": {"machine": "a", "processor": "p", "n_threads": 2, "measured": "2026-01-01",
              "flops_per_s": {"fp32": 1e12}, "bytes_per_s": 1e11, "library": "numpy"},
    "process": {"pid": 5, "host": "a", "rank": 0, "argv": ["a.py"], "started_at": 1.7e9,
                "framework": "jax", "python": "3.11", "run": "r", "port": 6009, "stacks": "s",
                "signal": 34, "ticks": 5, "stacks_reason": ""},
    "py_spy": _PY_SPY,
    "request": {"time": 1.7e9, "run": "a"},
}  # fmt: skip


def _records() -> Sequence[bytes]:
    return [json.dumps(one).encode() for one in _RECORDS.values()]


def _hang(**changes: object) -> bytes:
    """The record of a hang in which some values are others."""
    return json.dumps({**json.loads(_HANG.to_json()), **changes}).encode()


_RANK, _QUIET = json.loads(_HANG.to_json())["ranks"]
_THREAD = _RANK["threads"][0]


def _ranks(threads: Sequence[object]) -> bytes:
    return _hang(ranks=[{**_RANK, "threads": threads}, _QUIET])


FORMATS = (
    Format("budget", ".toml", lambda: _BUDGETS, partial(changed_lines, words=_limit_word), {
        "limits": lambda n: b"[op_time]\n" + b"".join(
            b'"op%d" = "1 ms"\n' % at for at in range(n // 20)
        ),
        "limits of one metric": lambda n: b"peak_memory = [" + b'"1 GB", ' * (n // 8) + b"]",
        "one pattern": lambda n: b'[op_time]\n"' + b"a" * n + b'" = "1 ms"\n',
        "one text": lambda n: b'step_time = "' + b"1" * n + b' ms"\n',
        "nesting": lambda n: b"step_time = " + b"[" * (n // 2) + b"]" * (n // 2),
        "tables": lambda n: b"".join(b"[op_time.a%d]\n" % at for at in range(n // 16)),
        "levels of one key": lambda n: b"a." * (n // 2) + b"b = 1\n",
        "comments": lambda n: b"# a comment\n" * (n // 12) + b"parameters = 7\n",
        "digits": lambda n: b"parameters = " + b"9" * n,
        "lines of a text": lambda n: b'step_time = """' + b"[settings]\n" * (n // 11) + b'"""',
    }),
    Format("patterns", ".txt",
        lambda: ["\n".join([one, "layer1/conv", "aab", "a" * 30, "größe"]).encode()
                                        for one in _PATTERNS if "\ud7ff" not in one],
           partial(changed_lines, words=_pattern_word), {
        "names": lambda n: _pattern_lines(n, "layer_.*/conv/.*"),
        "names, slow": lambda n: _pattern_lines(n, "(layer|layer_)*x"),
        "one name": lambda n: b".*a.*b.*\n" + b"a" * n,
        "one pattern": lambda n: b"a" * n + b"\nname",
        "choices": lambda n: b"|".join(b"name%d" % at for at in range(n // 10)) + b"\nname",
        "groups in groups": lambda n: b"(" * (n // 2) + b"a" + b")" * (n // 2) + b"\nname",
        "repeats": lambda n: b"a*" * (n // 2) + b"\naaaa",
        "repeats of repeats": lambda n: b"a" + b"*" * n + b"\naaaa",
        "classes": lambda n: b"[a-z]" * (n // 5) + b"\nname",
        "ranges of one class": lambda n: b"[" + b"a-cx-z" * (n // 6) + b"]\nname",
        "letters of one class": lambda n: "[{}]\nname".format(
            "".join(chr(0x4E00 + at % 20_000) for at in range(n // 3))
        ).encode(),
        "folded": lambda n: b"(?i)" + b"straSSe" * (n // 7) + b"\nname",
        "quoted": lambda n: b"\\Q" + b"a.*" * (n // 3) + b"\nname",
        "properties": lambda n: b"\\pL" * (n // 3) + b"\nname",
        "numbers": lambda n: b"a{1," + b"9" * n + b"}\nname",
    }),
    Format("options", ".txt", lambda: [
        "\n".join(f"{key}={value}" for key, value in zip(_OPTIONS, _VALUES, strict=False)).encode(),
        b"order_by=micros\nselect=micros,bytes\nshow_name_regexes=a.*,b\\,c\nstep=0\n5 s\n10:20\n"
        b"h100",
    ], partial(changed_lines, words=_option_word), {
        "one value": lambda n: b"select=" + b"micros," * (n // 7),
        "lines": lambda n: b"min_bytes=5\n" * (n // 12),
        "digits": lambda n: b"max_depth=" + b"9" * n,
        "escapes": lambda n: b"show_name_regexes=" + b"\\," * (n // 2),
        "quotes": lambda n: b"'\"" * (n // 2),
        "blanks": lambda n: b" " * n,
        "dashes": lambda n: b"-" * n,
    }),
    Format("shell", ".txt", lambda: _SHELL, partial(changed_lines, words=_shell_word), {
        "lines": lambda n: b"set step=0\n" * (n // 11),
        "one line": lambda n: b"set step=" + b"0" * n,
        "words": lambda n: b"scope " + b"-max_depth 3 " * (n // 13),
        "quotes": lambda n: b"scope " + b"''" * (n // 2),
        "backslashes": lambda n: b"scope " + b"\\" * n,
    }),
    Format("logs", ".log", lambda: (*_JAX_LOG, *_STACKS), partial(changed_lines, words=_log_word), {
        "lines": lambda n: _JAX_LOG[0] * (n // len(_JAX_LOG[0])),
        "functions": lambda n: b"".join(
            _JAX_LOG[0].replace(b"jit(f)", b"jit(f%d)" % at).replace(b" f ", b" f%d " % at)
            for at in range(n // len(_JAX_LOG[0]))
        ),
        "reasons": lambda n: _JAX_LOG[0][:160] * (n // 160),
        "one line": lambda n: b"Compiling " + b"f " * (n // 2) + b"with global shapes and types ",
        "lines that begin alike": lambda n: b"Finished tracing + transforming " * (n // 32),
        "types": lambda n: b"TRACING CACHE MISS at b.py:9\n  for g defined at b.py:2\n"
        + b"    * at x, now f32[3] and before f32[4]\n" * (n // 41),
        "parentheses": lambda n: b"Compiling jit(" + b"(" * n + b" with global shapes and types a. "
        b"Argument mapping: (",
        "threads": lambda n: _STACKS[0] * (n // len(_STACKS[0])),
        "frames": lambda n: _STACKS[0][:90] + b'  File "a.py", line 3 in f\n' * (n // 27),
        "one frame": lambda n: _STACKS[0][:90] + b'  File "' + b'", line 3 in f' * (n // 14),
    }),
    Format("records", ".json", _records, changed_json, {
        "ranks": lambda n: _hang(ranks=[_QUIET] * (n // 300)),
        "different ranks": lambda n: _hang(ranks=[
            {**_RANK, "number": 2 * at, "address": f"h{at}"} for at in range(n // 700)
        ]),
        "named ranks": lambda n: _hang(named=[0] * (n // 3)),
        "threads": lambda n: _ranks([{**_THREAD, "name": f"t{at}"} for at in range(n // 220)]),
        "frames": lambda n: _ranks([{**_THREAD, "frames": _THREAD["frames"] * (n // 100)}]),
        "one text": lambda n: _hang(basis="x" * n),
        "nesting": lambda n: b"[" * n,
        "notes": lambda n: json.dumps({"missing": [
            {"severity": "warning", "message": f"m{at}", "host": "a"} for at in range(n // 60)
        ]}).encode(),
        "costs": lambda n: json.dumps(
            {f"call{at}": {"flops": at} for at in range(n // 30)}
        ).encode(),
        "peaks": lambda n: json.dumps({"machine": "a", "flops_per_s": {f"t{at}": 1
                                       for at in range(n // 14)}}).encode(),
        "threads of py-spy": lambda n: json.dumps(_PY_SPY * (n // 130)).encode(),
    }),
)  # fmt: skip

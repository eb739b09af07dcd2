"""Imports what a command needs once, and becomes the command again and again, by a fork.

Run as a script with the descriptor of a socket. The first line names modules; each later one is a
JSON object with what to become: its words, environment, folder and standard streams (the process,
then its status and CPU time, are the answers).
"""

import contextlib
import importlib
import json
import os
import runpy
import signal
import socket
import sys
from pathlib import Path

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _serve(calls: socket.socket) -> dict:
    """Fork for each line; returns in the child, with the line."""
    with calls.makefile("rb") as lines:
        for name in json.loads(next(lines)):
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        sys.modules.pop("sitecustomize", None)
        for line in lines:
            signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # until it is the command
            child = os.fork()
            if not child:
                return json.loads(line)
            calls.sendall(b"%d\n" % child)
            _, status, used = os.wait4(child, 0)
            answer = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
            calls.sendall(json.dumps(answer).encode() + b"\n")
    sys.exit()


def _become(what: dict) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(what["environment"])
    os.chdir(what["cwd"])
    for number, stream in enumerate(what["streams"]):
        opened = os.open(stream, (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)[number])
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["tfprof", *what["words"]]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs in the background ignore
    if "TFPROF_FAULT" in os.environ:
        runpy.run_path(str(Path(__file__).parent / "hook" / "sitecustomize.py"))
    from fuzz.faults.child import prepare

    prepare(what["before"])


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as its_calls:
        _become(_serve(its_calls))
    from tfprof.cli.main import main

    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    main()

"""Imports TensorFlow once, and becomes each program that tests ask for, by a fork.

Run as a script with the descriptor of a socket, which carries a program with its arguments, and the
descriptors of its standard streams; the answer is its process.
"""

import json
import os
import signal
import socket
import sys

import tensorflow  # noqa: F401

calls = socket.socket(fileno=int(sys.argv[1]))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no process waits for the programs
while True:
    asked, streams, _, _ = socket.recv_fds(calls, 1 << 20, 3)
    if not asked:
        sys.exit()
    process = os.fork()
    if not process:
        break
    for stream in streams:
        os.close(stream)
    calls.sendall(b"%d" % process)

calls.close()
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs in the background ignore
for number, stream in enumerate(streams):
    os.dup2(stream, number)
    os.close(stream)
code, *sys.argv[1:] = json.loads(asked)
exec(compile(code, "<program>", "exec"), {"__name__": "__main__"})

"""A pseudo-terminal with a program in it, and its screen as a person sees it."""

import os
import select
import signal
import struct
import subprocess
import sys
import time

import pyte

from .conftest import environment

_ASKS_FOR_CURSOR = b"\x1b[6n"


class Screen:
    """A running ``tfprof``, typed into.

    Args:
        words: Its command line.
        rows: Height of the terminal.
        columns: Its width.
        through: A shell that gets the command line as its arguments; none by default.
        extra: Environment variables.
    """

    def __init__(self, *words, rows=30, columns=100, cwd=None, through="", **extra):
        import pty

        self._leader, follower = pty.openpty()
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self._set_size(rows, columns)
        variables = {"TERM": "xterm-256color", "PAGER": "cat", "TFPROF_HISTORY": "", **extra}
        self.process = subprocess.Popen(
            [*through.split(), sys.executable, "-m", "tfprof", *words],
            stdin=follower, stdout=follower, stderr=follower, cwd=cwd,
            env=environment(**variables), preexec_fn=_own_terminal,
        )  # fmt: skip
        os.close(follower)

    def _set_size(self, rows, columns):
        import fcntl
        import termios

        fcntl.ioctl(self._leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        self._set_size(rows, columns)
        os.killpg(self.process.pid, signal.SIGWINCH)

    @property
    def lines(self):
        """What is on the screen, without empty lines at its end."""
        lines = [line.rstrip() for line in self.screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def text(self):
        return "\n".join(self.lines)

    def wait_for(self, *texts, seconds=30):
        """Wait until all the texts are on the screen."""
        end = time.monotonic() + seconds
        while not all(text in self.text for text in texts):
            assert time.monotonic() < end, f"{texts} not on the screen:\n{self.text}"
            if not self._read(0.1):
                raise AssertionError(f"ended before {texts} was on the screen:\n{self.text}")
        return self

    def wait_for_prompt(self, prompt="tfprof>"):
        """Wait until the last line is an empty prompt, or another given one."""
        end = time.monotonic() + 30
        while not (self.lines and self.lines[-1] == prompt):
            assert time.monotonic() < end, f"no prompt:\n{self.text}"
            assert self._read(0.1), f"ended without a prompt:\n{self.text}"
        return self

    def type(self, text):
        os.write(self._leader, text.encode())
        return self

    def type_until(self, key, text, seconds=30):
        """Press a key again and again until a text is on the screen."""
        end = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < end, f"{text!r} not on the screen:\n{self.text}"
            self.type(key)
            self._read(0.5)
        return self

    def end(self, seconds=30):
        """Read until the program ends; its exit code."""
        while self._read(0.1):
            seconds -= 0.1
            assert seconds > 0, f"does not end:\n{self.text}"
        return self.process.wait(10)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        os.close(self._leader)

    def _read(self, seconds):
        """Take what there is; False once the program has gone."""
        if not select.select([self._leader], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._leader, 65536)
        except OSError:  # Linux says EIO when the other side is closed
            return False
        self._stream.feed(data)
        if _ASKS_FOR_CURSOR in data:
            cursor = self.screen.cursor
            os.write(self._leader, f"\x1b[{cursor.y + 1};{cursor.x + 1}R".encode())
        return bool(data)


def _own_terminal():
    """Make the terminal the program's own, so that Ctrl-C reaches it."""
    import fcntl
    import termios

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)

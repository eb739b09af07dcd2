"""Does something to this process at one of its own file operations, for ``fuzz.faults``.

``TFPROF_FAULT=count:FILE`` writes into a file, at the end, their number and the imported modules;
``TFPROF_FAULT=7:kill:15`` sends it a signal before the seventh, and ``7:sh:COMMAND`` runs a command
then. ``TFPROF_FAULT=0:clock:3600`` lets its clock jump by an hour and back, at every tenth look.
Processes that it starts are left alone.
"""

import itertools
import os
import sys
import time

_EVENTS = frozenset((
    "open", "os.chmod", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir",
    "os.scandir", "os.truncate", "os.utime", "socket.bind", "socket.connect", "subprocess.Popen",
    "os.fork", "tempfile.mkstemp", "tempfile.mkdtemp", "shutil.move", "shutil.rmtree",
))  # fmt: skip
_CODE = (".py", ".pyc", ".so", "/", ".pth")


def _begin(fault):
    at, _, rest = fault.partition(":")
    kind, _, what = rest.partition(":")
    if at == "count":
        _count(rest)
    elif kind == "clock":
        _let_jump(float(what))
    else:
        _act_at(int(at), kind, what)


def _is_operation(event, arguments):
    if event not in _EVENTS:
        return False
    place = arguments[0] if arguments else None
    return not (event in ("open", "os.listdir", "os.scandir") and _is_code(place))


def _is_code(place):
    """Whether it is code that is imported: moments in time are spread over that."""
    if not isinstance(place, str):
        return False
    return place.endswith(_CODE) or place.startswith((*sys.path[1:], sys.prefix, sys.base_prefix))


def _count(file):
    import atexit

    n_done = 0
    pid = os.getpid()

    def seen(event, arguments):
        nonlocal n_done
        n_done += _is_operation(event, arguments)

    def write():
        if os.getpid() == pid:
            number = os.open(file, os.O_WRONLY | os.O_CREAT)
            os.write(number, "\n".join([str(n_done), *sorted(sys.modules)]).encode())
            os.close(number)

    sys.addaudithook(seen)
    atexit.register(write)


def _act_at(at, kind, what):
    n_done = 0
    pid = os.getpid()

    def seen(event, arguments):
        nonlocal n_done
        if n_done >= at or not _is_operation(event, arguments) or os.getpid() != pid:
            return
        n_done += 1
        if n_done < at:
            return
        if kind == "kill":
            os.kill(pid, int(what))
        else:
            os.system(what)

    sys.addaudithook(seen)


def _let_jump(seconds):
    looks = itertools.count()
    now, now_ns = time.time, time.time_ns

    def ahead():
        # gRPC hands such times to C code, whose clock does not jump here: it would wait an hour.
        is_of_grpc = "/grpc/" in sys._getframe(2).f_code.co_filename
        return seconds if next(looks) // 10 % 2 and not is_of_grpc else 0.0

    time.time = lambda: now() + ahead()
    time.time_ns = lambda: now_ns() + int(ahead() * 1e9)


if _fault := os.environ.pop("TFPROF_FAULT", ""):
    _begin(_fault)

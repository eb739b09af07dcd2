import importlib.util
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from tests.remote.programs import nursery
from tfprof.core.wire import messages
from tfprof.remote import service

FOLDER = Path(__file__).parent
SERVICE = "/tensorflow.ProfilerService/"
BUSY = (grpc.StatusCode.INTERNAL, "Another profiling session active.")


def space(name="/host:CPU", **fields):
    return messages.XSpace(planes=[messages.XPlane(name=name)], hostnames=["box"], **fields)


class FakeServer:
    """A profiler server whose answers are given beforehand.

    ``answers`` are taken one after the other, the last one again and again: a status with its
    text, bytes, or ``"hang"``; without any, a capture is answered. ``requests`` has all requests.
    """

    def __init__(self, *answers, port=0, **methods):
        self.answers = list(answers)
        self.methods = methods
        self.requests = []
        self.asked, self.given_up, self.over = (threading.Event() for _ in range(3))
        self._server = grpc.server(ThreadPoolExecutor(8))
        self._server.add_generic_rpc_handlers([_Handler(self)])
        self.port = self._server.add_insecure_port(f"localhost:{port}")
        self.address = f"localhost:{self.port}"
        self._server.start()

    def profile(self, data, context):
        self.requests.append(messages.ProfileRequest.FromString(data))
        context.add_callback(self.given_up.set)
        self.asked.set()
        answer = self.answers.pop(0) if len(self.answers) > 1 else (self.answers or [None])[0]
        if answer is None:
            return messages.ProfileResponse(xspace=space()).SerializeToString()
        if answer == "hang":
            self.over.wait(30)
            return b""
        if isinstance(answer, tuple):
            context.abort(*answer)
        return answer

    def refuse(self):
        """Listen no longer; calls that are under way go on."""
        self._server.stop(30)

    def close(self):
        self.over.set()
        self._server.stop(0).wait()


class _Handler(grpc.GenericRpcHandler):
    def __init__(self, fake):
        self.fake = fake

    def service(self, details):
        method = details.method.removeprefix(SERVICE)
        known = {"Profile": self.fake.profile, **self.fake.methods}
        if not details.method.startswith(SERVICE) or method not in known:
            return None
        return grpc.unary_unary_rpc_method_handler(known[method])


@pytest.fixture
def fake_server():
    servers = []

    def start(*answers, port=0, **methods):
        servers.append(FakeServer(*answers, port=port, **methods))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="session", autouse=True)
def early_nursery(request):
    """TensorFlow is imported beside the first tests, if any test needs its programs."""
    if any(
        item.path.is_relative_to(FOLDER) and item.get_closest_marker("tensorflow")
        for item in request.session.items
    ) and importlib.util.find_spec("tensorflow"):
        nursery()


@pytest.fixture
def absent():
    """An address at which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        yield f"localhost:{taken.getsockname()[1]}"


@pytest.fixture
def mute():
    """The address of a server that accepts connections and says nothing, as a hanging one does."""
    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        listening.listen()
        yield f"localhost:{listening.getsockname()[1]}"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(service, "_FIRST_PAUSE_SECONDS", 0.01)

import pytest

from tfprof.remote.flight import FlightRecorder, sessions


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(sessions, "LIVING_SECONDS", 0.3)


@pytest.fixture
def recorder(fake_server, tmp_path):
    """Makes a recorder of a fake session, or of several."""

    def make(*fakes, **options):
        servers = [fake_server(**fake.methods()) for fake in fakes]
        options = {"interval_seconds": 0.05, "keep_seconds": 5, **options}
        logdir = options.pop("logdir", tmp_path)
        return FlightRecorder([server.address for server in servers], logdir, **options)

    make.folder = tmp_path
    return make

"""The client of Kubernetes against a server that answers its list of pods, page by page."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from tfprof.errors import InputError
from tfprof.remote.addresses import Address
from tfprof.remote.discovery.kubernetes import in_pods

pytestmark = [pytest.mark.one_engine, pytest.mark.slow]
pytest.importorskip("kubernetes", reason="needs the client of Kubernetes")


def pod(name, ip, phase="Running", **metadata):
    return {
        "metadata": {"name": name, **metadata}, "spec": {"containers": []},
        "status": {"phase": phase, **({"podIP": ip} if ip else {})},
    }  # fmt: skip


class Cluster:
    """``GET /api/v1/namespaces/NAME/pods`` as the API documents it: a ``PodList`` of two a page."""

    def __init__(self):
        self.pods, self.requests, self.status = [], [], 200
        cluster = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                url = urlsplit(self.path)
                words = {key: value[0] for key, value in parse_qs(url.query).items()}
                cluster.requests.append((url.path, words, self.headers["Authorization"]))
                first = int(words.get("continue", 0))
                rest = {"continue": str(first + 2)} if first + 2 < len(cluster.pods) else {}
                answer = {
                    "kind": "PodList", "apiVersion": "v1", "metadata": rest,
                    "items": cluster.pods[first : first + 2],
                }  # fmt: skip
                if cluster.status != 200:
                    answer = {"kind": "Status", "status": "Failure", "reason": "Forbidden",
                              "message": "pods is forbidden", "code": 403}  # fmt: skip
                data = json.dumps(answer).encode()
                self.send_response(cluster.status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    made = Cluster()
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": made.url}}],
        "users": [{"name": "u", "user": {"token": "t0ken"}}],
        "contexts": [
            {"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "team"}}
        ],
    }  # fmt: skip
    file = tmp_path / "config"
    file.write_text(json.dumps(config))  # JSON is YAML
    monkeypatch.setenv("KUBECONFIG", str(file))
    monkeypatch.setattr(
        "kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(file), raising=True
    )
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_pods_come_and_go(cluster):
    workers = in_pods("app=train", [6009])
    assert workers() == []
    cluster.pods = [
        pod("a", "10.0.0.1"), pod("b", "", "Pending"), pod("c", "10.0.0.3", "Succeeded"),
        pod("d", "fd00::4"), pod("e", "10.0.0.5", deletionTimestamp="2026-01-01T00:00:00Z"),
    ]  # fmt: skip
    assert workers() == [Address("10.0.0.1", 6009), Address("fd00::4", 6009)]
    path, words, account = cluster.requests[-3]
    assert path == "/api/v1/namespaces/team/pods" and account == "Bearer t0ken"
    assert words == {"labelSelector": "app=train", "limit": "500"}
    assert [words.get("continue") for _, words, _ in cluster.requests[-3:]] == [None, "2", "4"]
    cluster.pods = [pod("a", "10.0.0.9")]  # restarted elsewhere
    assert workers() == [Address("10.0.0.9", 6009)]
    in_pods("x=y", [6009], "other")()
    assert cluster.requests[-1][0] == "/api/v1/namespaces/other/pods"


def test_no_access(cluster, tmp_path, monkeypatch):
    workers = in_pods("app=train", [6009])
    cluster.status = 403
    with pytest.raises(InputError, match=r"in namespace team cannot be listed: Forbidden \(status"):
        workers()
    missing = str(tmp_path / "none")
    monkeypatch.setattr(
        "kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", missing, raising=True
    )
    with pytest.raises(InputError, match=r"no account to list pods with: .* or set KUBECONFIG"):
        in_pods("app=train", [6009])

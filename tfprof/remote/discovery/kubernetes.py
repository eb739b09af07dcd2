"""Workers in Kubernetes: the pods that a label selects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tfprof.errors import InputError, MissingDependencyError
from tfprof.remote.addresses import Address
from tfprof.remote.discovery.source import at_ports

_OWN_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_SECONDS = 15.0
_PAGE = 500


def in_pods(
    label: str, ports: Sequence[int], namespace: str | None = None
) -> Callable[[], Sequence[Address]]:
    """The source for the running pods with a label.

    The account is that of the pod in which this runs, or else the one that ``kubectl`` uses
    (``KUBECONFIG``). It must be allowed to list pods.

    Args:
        label: A selector such as ``app=train,role=worker``.
        ports: The ports of the profiler servers in each pod.
        namespace: By default that of this pod, or of ``kubectl``.

    Raises:
        MissingDependencyError: The package ``kubernetes`` is not installed.
        InputError: There is no account.
    """
    api, own = _connected()
    chosen = namespace or own

    def workers() -> Sequence[Address]:
        try:
            pods = list(_pods(api, chosen, label))
        except Exception as error:  # of any of the packages that the client uses
            raise InputError(
                f"pods with {label} in namespace {chosen} cannot be listed: {_why(error)}. Check "
                "it with: kubectl get pods --namespace "
                f"{chosen} --selector '{label}'"
            ) from error
        running = [pod.status.pod_ip for pod in pods if _is_running(pod)]
        return at_ports(running, ports)

    return workers


def _connected() -> tuple[Any, str]:
    """The API, and the usual namespace."""
    try:
        from kubernetes import client, config
        from kubernetes.config.config_exception import ConfigException
    except ImportError as error:
        raise MissingDependencyError(
            "listing the pods of Kubernetes needs its client: pip install 'tfprof[k8s]'"
        ) from error
    settings = client.Configuration()
    try:
        config.load_incluster_config(settings)
        return client.CoreV1Api(client.ApiClient(settings)), _OWN_NAMESPACE.read_text().strip()
    except (ConfigException, OSError):
        pass  # this does not run in a pod
    try:
        config.load_kube_config(client_configuration=settings)
        _, active = config.list_kube_config_contexts()
    except (ConfigException, OSError, TypeError) as error:
        raise InputError(
            f"Kubernetes: there is no account to list pods with: {_why(error)}. Run this in a pod "
            "with a service account, or set KUBECONFIG"
        ) from error
    return (
        client.CoreV1Api(client.ApiClient(settings)),
        active["context"].get("namespace") or "default",
    )


def _pods(api: Any, namespace: str, label: str) -> Iterator[Any]:
    """All pods, page by page."""
    more = None
    while True:
        page = api.list_namespaced_pod(
            namespace, label_selector=label, limit=_PAGE, _request_timeout=_SECONDS,
            **({"_continue": more} if more else {}),
        )  # fmt: skip
        yield from page.items
        more = page.metadata._continue
        if not more:
            return


def _is_running(pod: Any) -> bool:
    """Whether it has an address, and is not about to end."""
    is_up = pod.status.phase == "Running" and pod.metadata.deletion_timestamp is None
    return bool(is_up and pod.status.pod_ip)


def _why(error: BaseException) -> str:
    """One line: clients' errors have headers and whole answers."""
    reason = getattr(error, "reason", None) or error
    status = getattr(error, "status", None)
    said = " ".join(str(reason).split())[:300]
    return f"{said} (status {status})" if status else said

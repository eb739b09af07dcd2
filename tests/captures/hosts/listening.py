"""Ports of this process and its children, and what they answer to clients without a key."""

import os
import socket
import ssl
import urllib.error
import urllib.request

import psutil

PAGES = ("/", "/info/main/workers.html", "/json/counts.json", "/metrics", "/health", "/status",
         "/api/v1/retire_workers", "/statics/css/base.css", "/sysmon", "/eventstream")  # fmt: skip


def listening():
    """Addresses on which this process and its children listen."""
    own = psutil.Process(os.getpid())
    for process in (own, *own.children(recursive=True)):
        connections = getattr(process, "net_connections", None) or process.connections
        for one in connections(kind="tcp"):
            if one.status == psutil.CONN_LISTEN:
                yield one.laddr.ip, one.laddr.port


def status(port, page):
    """The answer of a web server; None without one."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, ValueError):
        return None


def answers(port):
    """The answer over TLS without a certificate of the cluster."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=5) as plain,
            context.wrap_socket(plain) as connection,
        ):
            connection.sendall(b"\0" * 64)
            return connection.recv(64)
    except OSError:
        return b""

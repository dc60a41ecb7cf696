"""Places for an index: a folder, a bucket on an S3 server of this machine."""

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from functools import cache
from pathlib import Path

import pytest

from ombud.index.opening import ENGINES

PLACES = ("lance", "s3")
"""Kinds that `place_for` knows."""


def place_for(kind: str, folder: Path) -> str:
    """The url of an index with nothing in it; skips where the server of its kind is not
    installed."""
    if kind == "s3":
        return f"lance:s3://{bucket()}/{uuid.uuid4().hex}"
    assert kind in ENGINES
    return f"{kind}://{folder / uuid.uuid4().hex}"


@cache
def bucket() -> str:
    """A bucket on moto's server, started once a process; LanceDB finds it by the environment."""
    if importlib.util.find_spec("moto") is None:
        pytest.skip("moto is not installed: `pip install moto flask flask-cors`")
    port = free_port()
    arguments = ["-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    start([sys.executable, *arguments], f"http://127.0.0.1:{port}/moto-api/")
    os.environ.update(s3_environment(port))
    name = "ombud"
    request = urllib.request.Request(f"http://127.0.0.1:{port}/{name}", method="PUT")
    urllib.request.urlopen(request, timeout=30).close()
    return name


def s3_environment(port: int) -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
    }


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def start(command: list[str], url: str) -> None:
    """A server that ends with this process; returns when it answers."""
    import atexit

    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(server.wait)
    atexit.register(server.kill)
    for _ in range(300):
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            if server.poll() is not None:
                raise
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(url)

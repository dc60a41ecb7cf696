"""Places for an index: a folder, a bucket on an S3 server of this machine."""

import atexit
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ombud.index.opening import ENGINES

PLACES = ("lance", "s3", pytest.param("milvus", marks=pytest.mark.slow))
"""Kinds that `place_for` knows. milvus-lite has a server of its own to start."""


def place_for(kind: str, folder: Path) -> str:
    """The url of an index with nothing in it; skips where the server of its kind is not
    installed."""
    if kind == "s3":
        return f"lance:s3://{bucket()}/{uuid.uuid4().hex}"
    if kind == "milvus":
        return f"milvus:{milvus()}/t{uuid.uuid4().hex}"
    assert kind in ENGINES
    return f"{kind}://{folder / uuid.uuid4().hex}"


@cache
def bucket() -> str:
    """A bucket on moto's server, started once a process; LanceDB finds it by the environment."""
    if importlib.util.find_spec("moto") is None:
        pytest.skip("moto is not installed: `pip install moto flask flask-cors`")
    port = free_port()
    command = [sys.executable, str(Path(__file__).with_name("s3_server.py")), str(port)]
    start(command, f"http://127.0.0.1:{port}", requests_log())
    os.environ.update(s3_environment(port))
    name = "ombud"
    request = urllib.request.Request(f"http://127.0.0.1:{port}/{name}", method="PUT")
    urllib.request.urlopen(request, timeout=30).close()
    return name


@cache
def requests_log() -> Path:
    """Of the S3 server of this process: a line a request."""
    handle, name = tempfile.mkstemp(prefix="ombud-s3-")
    os.close(handle)
    atexit.register(Path(name).unlink)
    return Path(name)


@cache
def milvus() -> str:
    """Address of milvus-lite's server, which stands in for a cluster; started once a process."""
    for module in ("pymilvus", "milvus_lite"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed: `pip install pymilvus milvus-lite`")
    port = free_port()
    data = tempfile.mkdtemp(prefix="ombud-milvus-")
    atexit.register(shutil.rmtree, data, ignore_errors=True)
    arguments = ["server", "--data-dir", data, "--host", "127.0.0.1", "--port", str(port)]
    start([sys.executable, "-m", "milvus_lite", *arguments], f"tcp://127.0.0.1:{port}")
    return f"http://127.0.0.1:{port}"


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


def start(command: list[str], url: str, log: Path = Path(os.devnull)) -> None:
    """A server that ends with this process; returns when it listens."""
    with log.open("wb") as said:
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
    atexit.register(server.wait)
    atexit.register(server.kill)
    address = urlsplit(url)
    for _ in range(600):
        try:
            socket.create_connection((address.hostname, address.port or 80), timeout=5).close()
        except OSError:
            if server.poll() is not None:
                raise
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(url)

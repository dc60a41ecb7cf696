"""A real homeserver, Matrix Synapse with SQLite, where one is installed, and people who use it.

Synapse is under the AGPL and so stays in an environment of its own:

python3 -m venv /opt/synapse && /opt/synapse/bin/pip install matrix-synapse
export TEST_SYNAPSE_PYTHON=/opt/synapse/bin/python
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

SERVER_NAME = "matrix.test"
SECRET = "only-for-these-tests-4711"
TRIES = 200
FREELY = {"per_second": 1_000_000, "burst_count": 1_000_000}


def missing() -> str:
    """Why there is none here; empty when there is."""
    python = os.environ.get("TEST_SYNAPSE_PYTHON", "")
    if not python:
        return "TEST_SYNAPSE_PYTHON names no python with matrix-synapse"
    asked = subprocess.run([python, "-c", "import synapse"], capture_output=True, check=False)
    return "" if asked.returncode == 0 else f"{python} has no matrix-synapse"


class User:
    """Somebody with an account, at a client of theirs."""

    def __init__(self, url: str, reply: dict[str, Any]) -> None:
        self.id, self.token = reply["user_id"], reply["access_token"]
        self._client = httpx.Client(
            base_url=url,
            headers={"authorization": f"Bearer {self.token}"},
            trust_env=False,
            timeout=60,
        )
        self._count = 0

    def call(self, method: str, *path: str, **sent: Any) -> dict[str, Any]:
        place = "/_matrix/client/v3/" + "/".join(quote(part, safe="") for part in path)
        response = self._client.request(method, place, **sent)
        assert response.status_code == 200, f"{response.status_code} {response.text}"
        replied: dict[str, Any] = response.json()
        return replied

    def join(self, room: str) -> None:
        self.call("POST", "join", room, json={})

    def find(self, alias: str) -> str:
        """The room of an alias; empty where there is none yet."""
        place = f"/_matrix/client/v3/directory/room/{quote(alias, safe='')}"
        response = self._client.get(place)
        return str(response.json()["room_id"]) if response.status_code == 200 else ""

    def may_join(self, room: str) -> bool:
        """Goes in, once the room is there and we are invited."""
        place = f"/_matrix/client/v3/join/{quote(room, safe='')}"
        return self._client.post(place, json={}).status_code == 200

    def leave(self, room: str) -> None:
        self.call("POST", "rooms", room, "leave", json={})

    def say(self, room: str, text: str, **content: Any) -> str:
        self._count += 1
        body = {"msgtype": "m.text", "body": text} | content
        path = ("rooms", room, "send", "m.room.message", f"{self.token[-9:]}{self._count}")
        return str(self.call("PUT", *path, json=body)["event_id"])

    def type(self, room: str, is_typing: bool) -> None:
        body = {"typing": is_typing, "timeout": 30_000}
        self.call("PUT", "rooms", room, "typing", self.id, json=body)

    def read(self, room: str, event_id: str) -> None:
        self.call("POST", "rooms", room, "receipt", "m.read", event_id, json={})

    def rename(self, name: str) -> None:
        self.call("PUT", "profile", self.id, "displayname", json={"displayname": name})

    def entries(self, room: str) -> list[dict[str, Any]]:
        """All of the room, oldest first."""
        query = {"dir": "f", "limit": "1000"}
        chunk: list[dict[str, Any]] = self.call("GET", "rooms", room, "messages", params=query)[
            "chunk"
        ]
        return chunk

    def texts(self, room: str, sender: str) -> list[str]:
        return [
            entry["content"]["body"]
            for entry in self.entries(room)
            if entry["type"] == "m.room.message" and entry["sender"] == sender
        ]

    def close(self) -> None:
        self._client.close()


class Synapse:
    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port, self.url = folder, port, f"http://127.0.0.1:{port}"
        self._server: subprocess.Popen[bytes] | None = None
        self._users: list[User] = []
        self._count = 0

    def configure(self) -> None:
        seed = base64.b64encode(secrets.token_bytes(32)).decode().rstrip("=")
        (self.folder / "signing.key").write_text(f"ed25519 a_test {seed}\n")
        listener = {
            "port": self.port,
            "bind_addresses": ["127.0.0.1"],
            "type": "http",
            "resources": [{"names": ["client"]}],
        }
        limits = {
            "rc_message": FREELY,
            "rc_room_creation": FREELY,
            "rc_login": {"address": FREELY, "account": FREELY},
            "rc_joins": {"local": FREELY},
            "rc_joins_per_room": FREELY,
            "rc_invites": {"per_room": FREELY, "per_user": FREELY, "per_issuer": FREELY},
        }
        settings = {
            "server_name": SERVER_NAME,
            "pid_file": str(self.folder / "pid"),
            "listeners": [listener],
            "database": {"name": "sqlite3", "args": {"database": str(self.folder / "db")}},
            "media_store_path": str(self.folder / "media"),
            "signing_key_path": str(self.folder / "signing.key"),
            "registration_shared_secret": SECRET,
            "macaroon_secret_key": SECRET,
            "form_secret": SECRET,
            "trusted_key_servers": [],
            "report_stats": False,
        }
        (self.folder / "homeserver.yaml").write_text(json.dumps(settings | limits))

    def start(self) -> None:
        python = os.environ["TEST_SYNAPSE_PYTHON"]
        run = [python, "-m", "synapse.app.homeserver", "-c", str(self.folder / "homeserver.yaml")]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                run, cwd=self.folder, env=environment, stdout=log, stderr=log
            )
        self._wait_for_answer()

    def stop(self) -> None:
        if self._server is not None:
            self._server.terminate()
            self._server.wait(60)
            self._server = None

    def end(self) -> None:
        for user in self._users:
            user.close()
        self.stop()

    def user(self, name: str, *, admin: bool = False) -> User:
        """A new account; names count up, so that tests do not meet."""
        self._count += 1
        user = f"{name}{self._count}"
        where = f"{self.url}/_synapse/admin/v1/register"
        nonce = httpx.get(where, trust_env=False).json()["nonce"]
        role = "admin" if admin else "notadmin"
        signed = "\0".join((nonce, user, SECRET, role)).encode()
        body = {
            "nonce": nonce,
            "username": user,
            "password": SECRET,
            "admin": admin,
            "mac": hmac.new(SECRET.encode(), signed, hashlib.sha1).hexdigest(),
        }
        return self._client(httpx.post(where, json=body, trust_env=False))

    def sign_in(self, user: User) -> User:
        """The same account with another token."""
        body = {
            "type": "m.login.password",
            "identifier": {"type": "m.id.user", "user": user.id},
            "password": SECRET,
        }
        where = f"{self.url}/_matrix/client/v3/login"
        return self._client(httpx.post(where, json=body, trust_env=False))

    def limit_messages(self, user: User, *, per_second: int, at_once: int) -> None:
        """Rate limits for one account."""
        admin = self.user("admin", admin=True)
        where = f"{self.url}/_synapse/admin/v1/users/{quote(user.id)}/override_ratelimit"
        body = {"messages_per_second": per_second, "burst_count": at_once}
        authorized = {"authorization": f"Bearer {admin.token}"}
        reply = httpx.post(where, json=body, headers=authorized, trust_env=False)
        assert reply.status_code == 200, reply.text

    def _client(self, reply: httpx.Response) -> User:
        assert reply.status_code == 200, reply.text
        user = User(self.url, reply.json())
        self._users.append(user)
        return user

    def _wait_for_answer(self) -> None:
        # Each try waits for the connection inside the transport.
        transport = httpx.HTTPTransport(retries=8)
        with httpx.Client(transport=transport, trust_env=False, timeout=60) as client:
            for _ in range(TRIES):
                assert self._server is not None
                assert self._server.poll() is None, (self.folder / "log").read_text()[-5000:]
                try:
                    if client.get(f"{self.url}/_matrix/client/versions").status_code == 200:
                        return
                except httpx.TransportError:
                    continue
        pytest.fail("Synapse does not answer.")


@contextmanager
def running(folder: Path) -> Iterator[Synapse]:
    """A homeserver without users, until the end; skips the test where that cannot be."""
    if why := missing():
        pytest.skip(why)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    synapse = Synapse(folder, port)
    synapse.configure()
    try:
        synapse.start()
        yield synapse
    finally:
        synapse.end()

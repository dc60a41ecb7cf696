"""Servers and their database are killed while people talk; every message is there once, in order.

TEST_KILLS says how often something is killed; `make handoff` takes 50."""

import os
import secrets
import uuid
from contextlib import closing
from pathlib import Path

import pytest

from handoff.replicas import Killer, Persistent, Replica, postgres_cluster, wait_for

KILLS = int(os.environ.get("TEST_KILLS", "4"))
LEAST = 20
"""Messages each way, however few kills there are."""

pytestmark = pytest.mark.slow


def workspace(home: Path, store_url: str) -> Path:
    home.mkdir()
    lines = [
        "[server]\nrequests_per_minute = 0\nmessages_per_minute = 0\nperson_cpu_seconds = 0\n",
        '[models]\nembedder = "none"\n',
        f'[store]\nurl = "{store_url}"\n' if store_url else "",
    ]
    (home / "ombud.toml").write_text("".join(lines), encoding="utf-8")
    return home


def test_two_servers_on_one_database_lose_nothing_when_they_are_killed(tmp_path: Path) -> None:
    with postgres_cluster(tmp_path / "cluster") as cluster:
        home = workspace(tmp_path / "home", cluster.url)
        replicas = [Replica(home, {}), Replica(home, {})]
        for replica in replicas:
            replica.start()

        def restart(replica: Replica) -> None:
            replica.kill()
            replica.start()

        def restart_database() -> None:
            cluster.stop()
            cluster.start()

        victims = [lambda: restart(replicas[0]), lambda: restart(replicas[1]), restart_database]
        try:
            talk_while_killed([replica.url for replica in replicas], Killer(KILLS, 1, victims))
        finally:
            for replica in replicas:
                replica.stop()


def test_one_server_on_a_file_loses_nothing_when_it_is_killed(tmp_path: Path) -> None:
    replica = Replica(workspace(tmp_path / "home", ""), {})
    replica.start()

    def restart() -> None:
        replica.kill()
        replica.start()

    try:
        talk_while_killed([replica.url], Killer(KILLS, 2, [restart]))
    finally:
        replica.stop()


def test_advisors_see_nothing_after_the_end_while_the_server_is_killed(tmp_path: Path) -> None:
    replica = Replica(workspace(tmp_path / "home", ""), {})
    replica.start()

    def restart() -> None:
        replica.kill()
        replica.start()

    key = {"ombud-key": secrets.token_hex(16)}
    killer = Killer(KILLS, 5, [restart])
    talks = 0
    try:
        with (
            closing(Persistent([replica.url], 6, key)) as employee,
            closing(Persistent([replica.url], 7, {"cookie": "ombud_advisor=advisor"})) as advisor,
        ):
            killer.start()
            while killer.is_alive() or talks < KILLS:
                assert after_the_end(employee, advisor) == []
                talks += 1
    finally:
        killer.join()
        replica.stop()
    assert killer.failed is None
    print(f"conversations: {talks}, kills: {killer.done}")


def after_the_end(employee: Persistent, advisor: Persistent) -> list[str]:
    """One conversation with an advisor; returns what they see of the question that follows it."""
    identity = employee.send("POST", "/api/v1/conversations", json={}).json()["id"]
    own, desk = f"/api/v1/conversations/{identity}", f"/api/v1/desk/{identity}"
    employee.send("POST", f"{own}/handoff", json={})
    advisor.send("POST", f"{desk}/claim", json={})
    before = {"id": str(uuid.uuid4()), "text": "before the end"}
    employee.send("POST", f"{own}/messages", json=before)
    advisor.send("POST", f"{desk}/end", json={"reason": "solved"})
    asked = {"question": "Am I paid when I am ill?", "conversation_id": identity}
    employee.send("POST", "/api/v1/ask", json=asked)
    events = advisor.send("GET", desk).json()["events"]
    texts = [event["text"] for event in events if event["kind"] in {"message", "answer"}]
    assert texts.pop(0) == before["text"]
    return texts


def talk_while_killed(urls: list[str], killer: Killer) -> None:
    """Both sides speak in turn until nothing is killed any more; each tries until it is taken."""
    key = {"ombud-key": secrets.token_hex(16)}
    with (
        closing(Persistent(urls, 3, key)) as employee,
        closing(Persistent(urls, 4, {"cookie": "ombud_advisor=advisor"})) as advisor,
    ):
        talk(employee, advisor, killer)


def talk(employee: Persistent, advisor: Persistent, killer: Killer) -> None:
    identity = employee.send("POST", "/api/v1/conversations", json={}).json()["id"]
    own, desk = f"/api/v1/conversations/{identity}", f"/api/v1/desk/{identity}"
    assert employee.send("POST", f"{own}/handoff", json={}).status_code in {200, 409}
    assert advisor.send("POST", f"{desk}/claim", json={}).status_code == 200
    killer.start()
    sent: list[str] = []
    told: list[str] = []
    while killer.is_alive() or len(sent) < LEAST:
        for party, path, texts in ((employee, own, sent), (advisor, desk, told)):
            text = f"message {len(texts)}"
            body = {"id": str(uuid.uuid4()), "text": text}
            response = party.send("POST", f"{path}/messages", json=body)
            assert response.status_code in {200, 201}, response.text
            texts.append(text)
    assert killer.failed is None
    assert killer.done == KILLS
    events = employee.send("GET", f"{own}/events").json()["events"]
    messages = [event for event in events if event["kind"] == "message"]
    assert [event["text"] for event in messages if event["by"] == "user"] == sent
    assert [event["text"] for event in messages if event["by"] == "advisor"] == told
    assert [event["place"] for event in events] == list(range(1, len(events) + 1))
    wait_for(lambda: employee.send("GET", "/healthz").status_code == 200)

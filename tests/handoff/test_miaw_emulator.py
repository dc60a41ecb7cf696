"""The emulator of Messaging for In-App and Web, against its written contract."""

import asyncio
import json
import re
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx_sse import EventSource

from handoff.miaw import API, DEPLOYMENT, ORGANISATION, Miaw, emulated, signed_for

CONTRACT = Path(__file__).parents[3] / "shared" / "spec" / "miaw_contract.json"
ABSENT = {404, 405}
MINT = {
    "orgId": ORGANISATION,
    "esDeveloperName": DEPLOYMENT,
    "capabilitiesVersion": "1",
    "platform": "Web",
}
Json = dict[str, Any]


class Guest:
    """A client that knows nothing but the contract."""

    def __init__(self, miaw: Miaw, client: httpx.AsyncClient) -> None:
        self.miaw, self.client = miaw, client
        self.talk = str(uuid.uuid4())

    async def mint(self, kind: str = "unauthenticated", **more: str) -> Json:
        path = f"{API}/authorization/{kind}/access-token"
        reply: Json = (await self.client.post(path, json={**MINT, **more})).json()
        self.client.headers["authorization"] = f"Bearer {reply['accessToken']}"
        return reply

    async def create(self) -> httpx.Response:
        body = {"conversationId": self.talk, "esDeveloperName": DEPLOYMENT}
        return await self.client.post(f"{API}/conversation", json=body)

    async def send(self, message_id: str, text: str) -> httpx.Response:
        content = {"formatType": "Text", "text": text}
        message = {"id": message_id, "messageType": "StaticContentMessage"}
        body = {"message": {**message, "staticContent": content}, "esDeveloperName": DEPLOYMENT}
        return await self.client.post(f"{API}/conversation/{self.talk}/message", json=body)

    async def entries(self, **query: str) -> list[Json]:
        place = f"{API}/conversation/{self.talk}/entries"
        reply: Json = (await self.client.get(place, params=query)).json()
        found: list[Json] = reply["conversationEntries"]
        return found

    async def stream(self, count: int, since: str = "0") -> list[tuple[str, str, str]]:
        """(event, id, data) of the next events, pings aside."""
        found: list[tuple[str, str, str]] = []
        headers = {"accept": "text/event-stream", "x-org-id": ORGANISATION, "last-event-id": since}
        async with self.client.stream("GET", "/eventrouter/v1/sse", headers=headers) as response:
            async for heard in EventSource(response).aiter_sse():
                if heard.event != "ping":
                    found.append((heard.event, heard.id, heard.data))
                if len(found) == count:
                    break
        return found


def talking(test: Callable[[Guest], Awaitable[None]]) -> None:
    async def run() -> None:
        async with emulated() as miaw, httpx.AsyncClient(base_url=miaw.url) as client:
            guest = Guest(miaw, client)
            await guest.mint()
            assert (await guest.create()).status_code == 201
            await test(guest)

    asyncio.run(run())


@pytest.mark.skipif(not CONTRACT.exists(), reason="needs ../shared/spec")
def test_every_endpoint_of_the_contract_is_there() -> None:
    contract = json.loads(CONTRACT.read_text(encoding="utf-8"))

    async def test(guest: Guest) -> None:
        for endpoint in contract["endpoints"]:
            path = re.sub(r"\?.*", "", endpoint["path"]).replace("{id}", guest.talk)
            if endpoint["op"] in {"sse", "close_conversation"}:
                continue
            response = await guest.client.request(endpoint["method"], path, json={})
            assert response.status_code not in ABSENT, endpoint["op"]

    talking(test)


@pytest.mark.skipif(not CONTRACT.exists(), reason="needs ../shared/spec")
def test_payloads_have_the_fields_of_the_contract() -> None:
    contract = json.loads(CONTRACT.read_text(encoding="utf-8"))["events"]

    async def test(guest: Guest) -> None:
        miaw, talk = guest.miaw, guest.talk
        await miaw.position(talk, 2)
        await miaw.work(talk, "Assigned")
        await miaw.accept(talk)
        await miaw.typing(talk, on=True)
        await miaw.typing(talk, on=False)
        mine = await miaw.say(talk, "hello")
        await miaw.has_read(talk, mine)
        await guest.client.delete(f"{API}/conversation/{talk}?esDeveloperName={DEPLOYMENT}")
        heard = await guest.stream(count=12)
        names = {event for event, _, _ in heard}
        known = {name for name in contract if name.startswith("CONVERSATION_")}
        assert names == known - {"CONVERSATION_DELIVERY_ACKNOWLEDGEMENT"}
        for event, _, data in heard:
            entry = json.loads(data)["conversationEntry"]
            payload = json.loads(entry["entryPayload"])
            assert set(payload) == set(contract[event]["payload"]), event

    talking(test)


def test_a_conversation_needs_a_small_uuid_of_version_four() -> None:
    async def test(guest: Guest) -> None:
        for wrong in (guest.talk.upper(), "x", str(uuid.uuid5(uuid.NAMESPACE_DNS, "a"))):
            guest.talk = wrong
            response = await guest.create()
            assert response.status_code == 400
            assert response.json()["message"] == "Specify the conversationId in UUID format."

    talking(test)


def test_a_message_has_our_id_in_listing_and_stream() -> None:
    async def test(guest: Guest) -> None:
        message_id = str(uuid.uuid4())
        assert (await guest.send(message_id, "hello")).status_code == 202
        assert (await guest.send(message_id, "hello")).status_code == 409
        listed = await guest.entries(entryTypeFilter="Message")
        assert [entry["identifier"] for entry in listed] == [message_id]
        words = listed[0]["entryPayload"]["abstractMessage"]["staticContent"]["text"]
        assert (words, listed[0]["sender"]["role"]) == ("hello", "EndUser")
        event, _, data = (await guest.stream(count=3))[-1]
        entry = json.loads(data)["conversationEntry"]
        assert (event, entry["identifier"]) == ("CONVERSATION_MESSAGE", message_id)
        assert isinstance(entry["entryPayload"], str)

    talking(test)


def test_the_listing_is_ordered_bounded_and_begins_where_it_is_asked_to() -> None:
    async def test(guest: Guest) -> None:
        for number in range(25):
            await guest.miaw.say(guest.talk, f"{number}")
        forwards = await guest.entries(direction="FromStart", entryTypeFilter="Message")
        assert len(forwards) == 20
        later = forwards[-1]["transcriptedTimestamp"]
        rest = await guest.entries(direction="FromStart", startTimestamp=str(later), limit="50")
        words = [e["entryPayload"]["abstractMessage"]["staticContent"]["text"] for e in rest]
        assert words == ["19", "20", "21", "22", "23", "24"]
        last = await guest.entries(direction="FromEnd", limit="1")
        assert last[0]["entryPayload"]["abstractMessage"]["staticContent"]["text"] == "24"
        path = f"{API}/conversation/{guest.talk}/entries"
        assert (await guest.client.get(path, params={"limit": "51"})).status_code == 400

    talking(test)


def test_the_stream_goes_on_after_the_last_event_and_tells_others_nothing() -> None:
    async def test(guest: Guest) -> None:
        begin = await guest.stream(count=2)
        await guest.miaw.say(guest.talk, "new")
        ((event, number, data),) = await guest.stream(count=1, since=begin[-1][1])
        assert event == "CONVERSATION_MESSAGE"
        assert int(number) > int(begin[-1][1])
        assert "new" in data
        await guest.mint()
        place = f"{API}/conversation/{guest.talk}"
        assert (await guest.client.get(place)).status_code == 404

    talking(test)


def test_a_token_ends_and_is_continued_for_the_same_person() -> None:
    async def test(guest: Guest) -> None:
        guest.miaw.expire()
        place = f"{API}/conversation/{guest.talk}"
        assert (await guest.client.get(place)).status_code == 401
        path = f"{API}/authorization/continuation-access-token"
        reply = (await guest.client.get(path)).json()
        guest.client.headers["authorization"] = f"Bearer {reply['accessToken']}"
        assert (await guest.client.get(place)).json()["routingStatus"] == "INITIAL"

    talking(test)


def test_a_wrong_identity_gets_the_token_of_nobody() -> None:
    async def test(guest: Guest) -> None:
        signed = {"authorizationType": "JWT", "customerIdentityToken": signed_for("employee")}
        known = await guest.mint("authenticated", **signed)
        assert known["context"]["endUser"]["subject"] == "v2/iamessage/AUTH/employee"
        for token in ("x", signed_for("e", iss="other"), signed_for("e", exp=1)):
            wrong = await guest.mint("authenticated", **{**signed, "customerIdentityToken": token})
            assert wrong["context"]["endUser"]["subject"].startswith("v2/iamessage/ANON/")

    talking(test)

"""Random requests of ten people in four countries, over every way in: nobody is told what their
roles, groups, grade and contract do not open, nor what somebody else has asked."""

import asyncio
import json
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from joserfc.jwk import RSAKey
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from channels.slack_emulator import SECRET, TOKEN, Slack
from channels.test_teams import (
    CHANNEL,
    WHOLE,
    Connector,
    activity,
    bearer,
    connector,
    key,
    reach_emulator,
)
from handoff.ticket_services import SECRET as TICKETS_SECRET
from handoff.ticket_services import TicketService, ZendeskService, serving
from ombud.app import Workspace, library, signing_in
from ombud.store import change_account, new_account
from ombud.types import Person
from web.running import HANDBOOK, make_workspace, running

__all__ = ["connector", "key"]

pytest.importorskip("slack_sdk", reason="the extra `slack` is not installed")
pytest.importorskip("microsoft_agents.hosting.fastapi", reason="the extra `teams` is not installed")
pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
pytestmark = [pytest.mark.anyio, pytest.mark.slow]
COUNT = int(os.environ.get("LEAK_REQUESTS", "400"))
"""5,000 before a release."""
Audience = dict[str, list[str]]


class Plan(NamedTuple):
    """A document for a few: what it is about, a word that stands nowhere else, and who may read."""

    subject: str
    name: str
    audience: Audience
    country: str = ""


PLANS = [
    Plan("directors' retention bonus", "Marrowfen", {"roles": ["director"]}),
    Plan("closure of the Leeds warehouse", "Quillonby", {"roles": ["manager"]}, "GB"),
    Plan("works council settlement", "Brackelau", {"groups": ["works-council"]}, "DE"),
    Plan("early retirement offer", "Vireloise", {"contracts": ["permanent"]}, "FR"),
    Plan("merger with the shipping company", "Ostrander", {"groups": ["legal"]}),
    Plan("severance scale", "Haldermoor", {"roles": ["hr", "director"]}),
    Plan("pay review of senior grades", "Tamblewick", {"grades": ["M1", "M2"]}),
    Plan("managers' car scheme", "Corvendale", {"roles": ["manager"], "grades": ["M1"]}),
    Plan("stock grant", "Yarrowmere", {"roles": ["director"], "contracts": ["permanent"]}, "US"),
    Plan("payroll audit", "Fennimark", {"groups": ["finance", "legal"]}),
]
PEOPLE = {
    "ann": Person(country="GB", roles=("manager",), grade="M1", contract="permanent"),
    "bob": Person(country="GB", contract="permanent"),
    "cleo": Person(country="DE", groups=("works-council",), grade="G5"),
    "dirk": Person(country="DE", roles=("hr",), grade="M2", contract="fixed-term"),
    "elise": Person(country="FR", contract="permanent"),
    "fred": Person(country="FR", roles=("manager",), contract="fixed-term"),
    "gail": Person(country="US", roles=("director",), grade="M1", contract="permanent"),
    "hugo": Person(country="US", groups=("legal",)),
    "ines": Person(country="GB", groups=("finance",), grade="M2"),
    "jon": Person(country="US"),
}
REDUCED = {
    "ann": Person(country="GB", contract="permanent"),
    "dirk": Person(country="DE", contract="fixed-term"),
    "gail": Person(country="US", roles=("manager",), contract="permanent"),
    "hugo": Person(country="US"),
}
"""People who are less than they were, half way through."""
IN_SLACK = {"C-all": list(PEOPLE), "C-leads": ["ann", "fred", "gail"], "C-law": ["hugo", "ines"]}
SETTINGS = (
    WHOLE + '[server]\nrequests_per_minute = 0\nperson_cpu_seconds = 0\n[handoff]\ndesk = "none"\n'
)


def may_read(person: Person, plan: Plan) -> bool:
    """As the guide says it: one match inside a key, a match for every key."""
    own: dict[str, set[str | None]] = {
        "roles": set(person.roles),
        "groups": set(person.groups),
        "grades": {person.grade},
        "contracts": {person.contract},
    }
    return all(own[name] & set(listed) for name, listed in plan.audience.items())


def handbook() -> dict[str, str]:
    pages = {}
    for number, plan in enumerate(PLANS):
        country = f"country: {plan.country}\n" if plan.country else ""
        pages[f"plans/{number}.md"] = (
            f"---\ntitle: The {plan.subject}\n{country}audience: {json.dumps(plan.audience)}\n---\n"
            f"# The {plan.subject}\n\nThe code name of the {plan.subject} is {plan.name}. Whoever "
            f"works on {plan.name} signs a statement first.\n"
        )
    return {**HANDBOOK, **pages}


class Company:
    """The people, what each of them may read today, and what came back of it that they may not."""

    def __init__(self, workspace: Workspace, url: str, chance: random.Random) -> None:
        self.workspace, self.url, self.chance = workspace, url, chance
        self.people = dict(PEOPLE)
        self.leaks: list[str] = []
        self.told: set[str] = set()
        """Names of plans that somebody was told, as they should be."""
        self.clients: dict[str, httpx.AsyncClient] = {}
        self.accounts: dict[str, str] = {}
        self.talks: dict[str, list[str]] = {name: [] for name in PEOPLE}
        self.answers: dict[str, list[str]] = {name: [] for name in PEOPLE}
        for name, person in PEOPLE.items():
            mail = f"{name}@acme.example"
            account = new_account(workspace.store, mail, person, ["employee"])
            self.accounts[name] = account.id
            cookies = {"ombud_login": signing_in.open_browser(workspace, account)}
            self.clients[name] = httpx.AsyncClient(base_url=url, cookies=cookies, timeout=60)
        self.documents = [one.id for one in library.documents(workspace, None)]

    def withdraw(self) -> None:
        """Take from people what they were. What they were told before stays theirs."""
        for name, person in REDUCED.items():
            change_account(self.workspace.store, self.accounts[name], person=person)
            self.people[name] = person
            self.talks[name].clear()
            self.answers[name].clear()

    def question(self, name: str) -> str:
        """Something about a plan or about everyday matters, marked as this person's."""
        subject = self.chance.choice(PLANS).subject
        wording = self.chance.choice(
            [
                f"What is the code name of the {subject}?",
                f"code name {subject}",
                f"Tell me about the {subject}. What is it called?",
                "How many days of annual leave do I have?",
                "May I work from home?",
            ]
        )
        return f"{wording} (asked by mark-{name})"

    def check(self, readers: list[str], text: str, where: str) -> None:
        for plan in PLANS:
            if plan.name.lower() not in text.lower():
                continue
            if all(may_read(self.people[name], plan) for name in readers):
                self.told.add(plan.name)
            else:
                self.leaks.append(f"{where}: {readers} were told of {plan.name}")
        for name in PEOPLE:
            if f"mark-{name}" in text and name not in readers:
                self.leaks.append(f"{where}: {readers} were told what {name} asked")

    async def request(self, name: str, method: str, path: str, **sent: Any) -> httpx.Response:
        reply = await self.clients[name].request(method, path, **sent)
        self.check([name], reply.text, f"{method} {path}")
        if reply.status_code >= 500:
            self.leaks.append(f"{method} {path}: {reply.status_code} {reply.text[:200]}")
        return reply

    # Ways in ----------------------------------------------------------------------------------

    async def ask(self, name: str) -> None:
        body: dict[str, Any] = {"question": self.question(name), "person": claimed(self.chance)}
        talk = self._talk_of_anybody(name)
        if talk:
            body["conversation_id"] = talk
        reply = await self.request(name, "POST", "/api/v1/ask", json=body)
        if reply.status_code == 200:
            self.answers[name].append(reply.json()["id"])

    async def begin(self, name: str) -> None:
        made = await self.request(name, "POST", "/api/v1/conversations", json={})
        self.talks[name].append(made.json()["id"])

    async def stream(self, name: str) -> None:
        await self.begin(name)
        body = {"question": self.question(name), "conversation_id": self.talks[name][-1]}
        await self.request(name, "POST", "/chat/ask", json=body)

    async def search(self, name: str) -> None:
        body = {"query": self.question(name), "person": claimed(self.chance)}
        await self.request(name, "POST", "/api/v1/search", json=body)

    async def browse(self, name: str) -> None:
        document = self.chance.choice(self.documents)
        query = self.chance.choice(PLANS).subject
        path = self.chance.choice(
            [
                f"/documents?q={query}",
                f"/documents/{document}",
                f"/documents/{document}/changes",
                f"/documents/{document}/pages/1",
                f"/api/v1/documents/{document}",
                f"/api/v1/documents?q={query}",
                "/api/v1/documents",
                "/",
            ]
        )
        await self.request(name, "GET", path)

    async def look_back(self, name: str) -> None:
        """Conversations, their exports and feedback, also with the ids of others."""
        talk = self._talk_of_anybody(name)
        path = self.chance.choice(["", "/events", "/transcript", "/transcript?format=json"])
        await self.request(name, "GET", f"/api/v1/conversations/{talk}{path}")
        await self.request(name, "GET", "/api/v1/conversations")
        answers = self.answers[self.chance.choice(list(PEOPLE))]
        if answers:
            path = f"/api/v1/answers/{self.chance.choice(answers)}/feedback"
            await self.request(name, "POST", path, json={"thumb": 1, "comment": "fine"})

    async def openai(self, name: str) -> None:
        said = [{"role": "user", "content": self.question(name)}]
        stream = self.chance.random() < 0.5
        body = {"model": "ombud", "messages": said, "stream": stream}
        await self.request(name, "POST", "/v1/chat/completions", json=body)
        body = {"model": "ombud", "input": self.question(name), "stream": stream}
        await self.request(name, "POST", "/v1/responses", json=body)

    async def mcp(self, name: str) -> None:
        tool, arguments = self.chance.choice(
            [
                ("ask", {"question": self.question(name)}),
                ("search", {"query": self.question(name)}),
                ("get_document", {"document": self.chance.choice(self.documents)}),
                ("get_document", {"document": self.documents[0], "role": "director"}),
                ("ask", {"question": self.question(name), "role": "director"}),
            ]
        )
        call = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = {"accept": "application/json, text/event-stream"}
        await self.request(name, "POST", "/mcp", json=body, headers=headers)

    async def socket(self, name: str) -> None:
        cookies = self.clients[name].cookies.items()
        headers = {"cookie": "; ".join(f"{key}={value}" for key, value in cookies)}
        address = self.url.replace("http", "ws") + "/live"
        async with connect(address, additional_headers=headers) as live:
            await live.send(json.dumps({"watch": self._talk_of_anybody(name), "after": 0}))
            await live.send(json.dumps({"ping": 1}))
            heard = ""
            try:
                while "pong" not in heard:
                    heard += str(await live.recv())
            except ConnectionClosedError as closed:  # their roles have just been withdrawn
                if closed.rcvd is None or closed.rcvd.code != 4403:
                    raise
        self.check([name], heard, "socket")

    async def share(self, name: str) -> None:
        """Let a colleague open a link to a conversation; its questions are theirs to read."""
        await self.stream(name)
        path = f"/api/v1/conversations/{self.talks[name][-1]}/share"
        link = (await self.request(name, "PUT", path)).json()["href"]
        colleague = self.chance.choice(list(PEOPLE))
        opened = await self.clients[colleague].get(link)
        assert opened.status_code == 200
        shared = opened.text.replace(f"mark-{name}", "")
        self.check([colleague], shared, "shared link")

    async def hand_over(self, name: str) -> None:
        await self.stream(name)
        body = {"reason": "asked", "ticket": True, "consent": self.chance.random() < 0.5}
        path = f"/api/v1/conversations/{self.talks[name][-1]}/handoff"
        await self.request(name, "POST", path, json=body)

    def _talk_of_anybody(self, name: str) -> str:
        owner = name if self.chance.random() < 0.5 else self.chance.choice(list(PEOPLE))
        return self.chance.choice(self.talks[owner] or [""])


def claimed(chance: random.Random) -> Mapping[str, Any]:
    """What somebody says they are."""
    return chance.choice([{}, {"country": "DE"}, {"roles": ["director"], "grade": "M1"}])


def member_of_teams(name: str) -> dict[str, str]:
    mail = f"{name}@acme.example"
    return {"id": f"29:{name}", "objectId": f"{name}-oid", "userPrincipalName": mail}


class Chats:
    """The people of the company in Slack and Teams."""

    def __init__(self, company: Company, slack: Slack, teams: Connector, signed: RSAKey) -> None:
        self.company, self.slack, self.teams, self.key = company, slack, teams, signed
        self.client = company.clients[""] = httpx.AsyncClient(base_url=company.url, timeout=60)
        for name in PEOPLE:
            slack.add_user(f"U-{name}", f"{name}@acme.example")
            teams.members[f"a:29:{name}"] = [member_of_teams(name)]
        for channel, names in IN_SLACK.items():
            slack.channels[channel] = [f"U-{name}" for name in names]
            teams.members[f"19:{channel}"] = [member_of_teams(name) for name in names]

    async def write_in_slack(self, name: str) -> None:
        channel = self._channel_of(name)
        before = self._posted_in_slack()
        sent = self.slack.message(f"U-{name}", self.company.question(name), channel)
        assert (await self.slack.send(self.client, sent)).status_code == 200
        await self.slack.wait_for(lambda: self._posted_in_slack() > before)
        places = {**IN_SLACK, **{f"D-U-{one}": [one] for one in PEOPLE}}
        for where, readers in places.items():
            for message in self.slack.posted(where):
                self.company.check(readers, json.dumps(message), f"Slack {where}")
            self.slack.messages[where].clear()
        for message in self.slack.ephemeral:
            reader = message["user"].removeprefix("U-")
            self.company.check([reader], json.dumps(message), "Slack, for one")
        self.slack.ephemeral.clear()

    async def write_in_teams(self, name: str) -> None:
        channel = self._channel_of(name)
        sender = {"from": {"id": f"29:{name}", "name": name, "aadObjectId": f"{name}-oid"}}
        place: dict[str, Any] = {
            "conversation": {"id": f"a:29:{name}", "conversationType": "personal"}
        }
        if channel:
            place = {"conversation": {**CHANNEL["conversation"], "id": f"19:{channel};messageid=1"}}
        sent = activity(self.company.question(name), serviceUrl=self.teams.url, **sender, **place)
        headers = {"authorization": bearer(self.key, serviceurl=self.teams.url)}
        reply = await self.client.post("/api/messages", json=sent, headers=headers)
        assert reply.status_code == 202, reply.text
        await asyncio.to_thread(self._wait_for_teams)
        for message in self.teams.got:
            where = message["path"].partition("v3/conversations/")[2].partition("/")[0]
            readers = IN_SLACK.get(where.removeprefix("19:").partition(";")[0])
            readers = readers or [where.removeprefix("a:").removeprefix("29:")]
            self.company.check(readers, json.dumps(message), f"Teams {where}")
        self.teams.got.clear()

    def _wait_for_teams(self) -> None:
        with self.teams.news:
            assert self.teams.news.wait_for(lambda: self.teams.got, 20)

    def _channel_of(self, name: str) -> str:
        mine = [channel for channel, names in IN_SLACK.items() if name in names]
        return self.company.chance.choice(["", *mine])

    def _posted_in_slack(self) -> int:
        posted = sum(len(self.slack.posted(where)) for where in list(self.slack.messages))
        return posted + len(self.slack.ephemeral)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def company_of(
    home: Path, slack: Slack, tickets: TicketService, chance: random.Random
) -> AsyncIterator[Company]:
    make_workspace(home, handbook=handbook()).close()
    kept = (home / "ombud.toml").read_text(encoding="utf-8").partition("[server]")[0]
    systems = f'[slack]\nmode = "events"\napi_url = "{slack.url}api/"\n'
    systems += f'[tickets]\nsystem = "zendesk"\nurl = "{tickets.url}"\nclient = "client"\n'
    (home / "ombud.toml").write_text(f"{kept}{SETTINGS}{systems}", encoding="utf-8")
    workspace = Workspace(home)
    with running(workspace) as url:
        company = Company(workspace, url, chance)
        try:
            yield company
        finally:
            for client in company.clients.values():
                await client.aclose()
            workspace.close()


async def test_nobody_is_told_what_they_may_not_read(
    tmp_path: Path,
    connector: Connector,
    key: RSAKey,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reach_emulator(monkeypatch)
    monkeypatch.setenv("SLACK_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("SLACK_SECRET", SECRET)
    monkeypatch.setenv("TICKETS_SECRET", TICKETS_SECRET)
    chance = random.Random(2026)
    async with (
        Slack() as slack,
        serving(ZendeskService()) as tickets,
        company_of(tmp_path, slack, tickets, chance) as company,
    ):
        chats = Chats(company, slack, connector, key)
        ways: list[Callable[[str], Awaitable[None]]] = [
            company.ask,
            company.stream,
            company.search,
            company.browse,
            company.look_back,
            company.openai,
            company.mcp,
            company.socket,
            company.share,
            company.hand_over,
            chats.write_in_slack,
            chats.write_in_teams,
        ]
        for number in range(COUNT):
            if number == COUNT // 2:
                company.withdraw()
            await chance.choice(ways)(chance.choice(list(PEOPLE)))
        for stored in tickets.tickets.values():
            written = "\n".join([json.dumps(stored.body), *tickets.texts(stored)])
            marks = {name for name in PEOPLE if f"mark-{name}" in written}
            assert len(marks) <= 1, "a ticket tells of two people"
        assert tickets.tickets
        assert len(company.told) > len(PLANS) / 2
        assert company.leaks == []

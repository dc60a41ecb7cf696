"""Hand-overs as a workspace keeps them: offers, care, mail, erasure."""

import asyncio
import base64
import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MailHandler

from handoff.replicas import free_port
from ombud.app import Workspace, advising, asking, conversing, handoff_jobs
from ombud.errors import Busy, HandoffError, IllegalTransition, NotFound
from ombud.handoff import verify_webhook
from ombud.store import (
    append_events,
    count_phrases,
    erase_quotes,
    erase_rows,
    project,
    read_events,
    read_session,
    select_conversation,
    verify_chain,
)
from ombud.store.tables import lease as leases
from ombud.types import (
    Answer,
    Answering,
    HandoffReason,
    NewEvent,
    Notified,
    Person,
    Question,
    Said,
    Session,
    Unclaimed,
)
from web.running import make_workspace

GB = Person(country="GB")
KEY = "a-secret"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    made = make_workspace(tmp_path)
    yield made
    made.close()


def with_settings(workspace: Workspace, **handoff: Any) -> None:
    """As ombud.toml would say."""
    settings = workspace.settings.handoff.model_validate(
        {**workspace.settings.handoff.model_dump(), **handoff}
    )
    workspace.settings = workspace.settings.model_copy(update={"handoff": settings})


def with_address(workspace: Workspace) -> None:
    """Serve the workspace below a path of another site."""
    server = workspace.settings.server.model_copy(
        update={"public_url": "https://intranet.example/ombud"}
    )
    workspace.settings = workspace.settings.model_copy(update={"server": server})


def be_surer(workspace: Workspace) -> None:
    """Answer less often than the other tests do."""
    plan = workspace.settings.plan.model_copy(update={"abstain": 0.6})
    workspace.settings = workspace.settings.model_copy(update={"plan": plan})


def ask(workspace: Workspace, text: str, talk: str | None = None, key: str = "") -> Answer:
    question = Question(text=text, asker=GB)
    return asyncio.run(asking.ask(workspace, question, conversation_id=talk, message_key=key))


def begin(workspace: Workspace) -> str:
    return conversing.begin(workspace, GB, KEY)


def hand_over(workspace: Workspace, talk: str, reason: HandoffReason = "asked") -> None:
    conversing.hand_over(workspace, talk, reason, "leave")


def hours_later(hours: float) -> datetime:
    return datetime.now(UTC) + timedelta(hours=hours)


# At the desk --------------------------------------------------------------------------------------


def test_an_advisor_is_suggested_what_the_documents_say_and_not_to_ask_a_person(
    workspace: Workspace,
) -> None:
    talk = begin(workspace)
    told = ask(workspace, "I am being harassed, may I work from a cafe instead?", talk)
    ask(workspace, "I want to talk to a person", talk)
    hand_over(workspace, talk, "sensitive")
    kept = len(read_events(workspace.store, talk))
    suggested = asyncio.run(advising.suggest(workspace, talk, advising.EVERYBODY))
    assert told.action == "handoff"
    assert suggested.action != "handoff"
    assert "Remote work" in {citation.title for citation in suggested.citations}
    assert len(read_events(workspace.store, talk)) == kept


def test_the_list_shows_last_words_and_what_nobody_has_read(workspace: Workspace) -> None:
    talk, silent = begin(workspace), begin(workspace)
    for one in (talk, silent):
        hand_over(workspace, one)
    ana = advising.EVERYBODY

    def shown() -> list[tuple[str, int]]:
        board = advising.board(workspace, ana)
        return [(card.preview, card.unread) for card in (*board.waiting, *board.mine)]

    first = conversing.say(workspace, talk, "Hello\n there", str(uuid.uuid4()))
    conversing.say(workspace, talk, "Anybody?", str(uuid.uuid4()))
    assert shown() == [("Anybody?", 2), ("", 0)]
    advising.claim(workspace, talk, ana)
    advising.read(workspace, talk, first.events[0].place)
    assert shown() == [("", 0), ("Anybody?", 1)]
    advising.reply(workspace, talk, ana, "Yes", str(uuid.uuid4()))
    assert shown() == [("", 0), ("Anybody?", 0)]


def test_nobody_has_a_number_in_the_queue_while_the_desk_is_closed(workspace: Workspace) -> None:
    talk = begin(workspace)
    with_settings(workspace, closed=[conversing.clock(workspace).date()])
    hand_over(workspace, talk)
    waiting = read_session(workspace.store, talk)
    assert advising.with_place(workspace, waiting).position is None
    with_settings(workspace, closed=[])
    assert advising.with_place(workspace, waiting).position == 1


# When a person is offered -------------------------------------------------------------------------


def test_who_asks_for_a_person_is_offered_one(workspace: Workspace) -> None:
    answer = ask(workspace, "I want to talk to a real person")
    assert (answer.action, answer.offer) == ("handoff", "asked")
    assert ask(workspace, "How many days of annual leave do I have?").offer is None


def test_what_is_sensitive_is_offered_for_that_reason(workspace: Workspace) -> None:
    answer = ask(workspace, "My manager touches me and I am being sexually harassed")
    assert (answer.action, answer.offer) == ("handoff", "sensitive")


def test_questions_in_a_row_without_an_answer_lead_to_an_offer(workspace: Workspace) -> None:
    be_surer(workspace)
    talk = begin(workspace)
    first = ask(workspace, "How do I get a parking permit?", talk)
    second = ask(workspace, "How do I get a company phone?", talk)
    denied = [
        answer.outcome == "denied" and answer.action == "contact" for answer in (first, second)
    ]
    assert denied == [True, True]
    assert first.offer in {None, "unsure"}
    assert second.offer == "denied"


def test_topics_and_reasons_are_chosen_by_country(workspace: Workspace) -> None:
    with_settings(workspace, never=["asked"])
    assert ask(workspace, "can I talk to someone").offer is None
    with_settings(workspace, never=["asked"], country={"GB": {"never": []}})
    assert ask(workspace, "can I talk to someone").offer == "asked"
    with_settings(workspace, desk="none")
    assert ask(workspace, "can I talk to someone").offer is None


def test_several_circumstances_that_are_not_settled_are_complex(workspace: Workspace) -> None:
    be_surer(workspace)
    answer = ask(
        workspace, "I am part-time, pregnant and moving to Japan: is my crèche place paid?"
    )
    assert answer.outcome != "full"
    assert answer.offer == "complex"


# A conversation -----------------------------------------------------------------------------------


def test_its_session_is_what_its_events_say(workspace: Workspace) -> None:
    talk = begin(workspace)
    ask(workspace, "How many days of annual leave do I have?", talk)
    hand_over(workspace, talk)
    me = advising.EVERYBODY
    advising.claim(workspace, talk, me)
    advising.reply(workspace, talk, me, "Hello", str(uuid.uuid4()))
    advising.transfer(workspace, talk, me, topic="pay", to="", note="is about pay")
    advising.claim(workspace, talk, me)
    advising.end(workspace, talk, me, reason="solved", note="")
    stands = read_session(workspace.store, talk)
    assert stands.state == "returned"
    assert project(Session(id=talk, asker=GB), read_events(workspace.store, talk)) == stands
    assert verify_chain(workspace.store).broken is None


@pytest.mark.parametrize("verb", ["reply", "end", "transfer"])
def test_what_is_not_allowed_as_it_stands_is_an_error_and_leaves_nothing(
    workspace: Workspace, verb: str
) -> None:
    talk = begin(workspace)
    me = advising.EVERYBODY
    arguments: dict[str, Any] = {
        "reply": {"text": "hi", "key": str(uuid.uuid4())},
        "end": {"reason": "", "note": ""},
        "transfer": {"topic": "pay", "to": "", "note": ""},
    }[verb]
    with pytest.raises(IllegalTransition):
        getattr(advising, verb)(workspace, talk, me, **arguments)
    hand_over(workspace, talk)
    with pytest.raises(IllegalTransition):
        getattr(advising, verb)(workspace, talk, me, **arguments)
    other = me.model_copy(update={"id": "other", "name": "Other"})
    advising.claim(workspace, talk, other)
    with pytest.raises(Busy, match="Other"):
        getattr(advising, verb)(workspace, talk, me, **arguments)
    with pytest.raises(Busy, match="Other has taken it"):
        advising.claim(workspace, talk, me)
    assert [event.by for event in read_events(workspace.store, talk)] == ["user", "advisor"]


def test_an_answer_whose_writer_is_no_more_is_interrupted_and_asked_again(
    workspace: Workspace,
) -> None:
    talk, key = begin(workspace), str(uuid.uuid4())
    gone = Answering(owner="answers/of-a-killed-process", fence=1)
    asked = NewEvent(by="user", what=Said(text="How many days of annual leave do I have?"), key=key)
    append_events(workspace.store, talk, lambda _: [asked, NewEvent(by="assistant", what=gone)])
    stands, events = conversing.events_after(workspace, talk, 0)
    assert [event.what.kind for event in events if event.what] == [
        "message",
        "answering",
        "interrupted",
    ]
    assert stands.answering == ""
    answer = ask(workspace, "How many days of annual leave do I have?", talk, key)
    assert "26 days" in answer.text
    kinds = [event.what.kind for event in read_events(workspace.store, talk) if event.what]
    assert kinds == ["message", "answering", "interrupted", "answering", "answer"]


def test_a_process_that_was_only_slow_is_not_interrupted(workspace: Workspace) -> None:
    talk = begin(workspace)
    lease = workspace.answering_lease
    begun = Answering(owner=lease.name, fence=lease.fence)
    append_events(workspace.store, talk, lambda _: [NewEvent(by="assistant", what=begun)])
    assert conversing.events_after(workspace, talk, 0)[0].answering == lease.name
    with workspace.store.write() as db:
        db.execute(leases.update().values(expires=1.0))
    assert conversing.events_after(workspace, talk, 0)[0].answering == ""


# Care ---------------------------------------------------------------------------------------------


def test_a_hand_over_that_nobody_takes_names_the_contact_once(workspace: Workspace) -> None:
    talk = begin(workspace)
    hand_over(workspace, talk)
    handoff_jobs.run_once(workspace)
    assert not read_session(workspace.store, talk).has_warned
    for _ in range(2):
        handoff_jobs.run_once(workspace, lambda: hours_later(1))
    told = [e.what for e in read_events(workspace.store, talk) if isinstance(e.what, Unclaimed)]
    assert told == [Unclaimed(minutes=10, contact="People team · people@example.org")]


class _Mails(MailHandler):
    def __init__(self) -> None:
        super().__init__()
        self.got: list[Any] = []

    def handle_message(self, message: Any) -> None:
        self.got.append(message)


@pytest.fixture
def mails(workspace: Workspace) -> Iterator[list[Any]]:
    """A mail server, named by the settings."""
    handler = _Mails()
    controller = Controller(handler, hostname="127.0.0.1", port=free_port())
    controller.start()
    mail = workspace.settings.mail.model_copy(
        update={
            "host": "127.0.0.1",
            "port": controller.port,
            "security": "none",
            "sender": "o@acme.example",
        }
    )
    workspace.settings = workspace.settings.model_copy(update={"mail": mail})
    yield handler.got
    controller.stop()


def test_advisors_who_are_away_are_told_by_mail_without_a_word_of_what_was_said(
    workspace: Workspace, mails: list[Any]
) -> None:
    ana = {"id": "ana", "name": "Ana", "mail": "ana@acme.example", "countries": ["GB"]}
    tom = {"id": "tom", "name": "Tom", "mail": "tom@acme.example", "countries": ["DE"]}
    with_settings(workspace, advisor=[ana, tom])
    with_address(workspace)
    talk = begin(workspace)
    hand_over(workspace, talk, "sensitive")
    conversing.say(workspace, talk, "My secret trouble", str(uuid.uuid4()))
    for _ in range(2):
        handoff_jobs.run_once(workspace, lambda: hours_later(0.1))
    (mail,) = mails
    assert mail["To"] == "ana@acme.example"
    text = mail.get_payload(decode=True).decode()
    assert "Sensitive matter" in text
    assert f"https://intranet.example/ombud/desk?conversation={talk}" in text
    assert "secret" not in mail.as_string()
    other = begin(workspace)
    hand_over(workspace, other)
    advising.is_here(workspace, workspace.settings.handoff.advisor[0])
    handoff_jobs.run_once(workspace, lambda: hours_later(0.1))
    assert len(mails) == 1


def test_a_transcript_comes_by_mail_and_a_wrong_address_is_said(
    workspace: Workspace, mails: list[Any]
) -> None:
    with_address(workspace)
    talk = begin(workspace)
    answer = ask(workspace, "How many days of annual leave do I have?", talk)
    conversing.mail_transcript(workspace, talk, "ann@acme.example")
    text = mails[0].get_payload(decode=True).decode()
    assert "Employee: How many days of annual leave do I have?" in text
    cited = answer.citations[0]
    assert f"[1] {cited.title} https://intranet.example/ombud/documents/{cited.document_id}" in text
    for wrong in ("ann", "a@b.example\r\nBcc: all@acme.example", "a@b.example, c@d.example", ""):
        with pytest.raises(Exception, match="no mail address"):
            conversing.mail_transcript(workspace, talk, wrong)
    assert len(mails) == 1


def test_without_a_mail_server_the_sentence_says_so(workspace: Workspace) -> None:
    with pytest.raises(HandoffError, match="No mail server"):
        conversing.mail_transcript(workspace, begin(workspace), "ann@acme.example")


def test_the_notification_is_signed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    posted: list[tuple[dict[str, str], bytes]] = []

    class Sink(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            posted.append((headers, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Sink)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    key = b"k" * 32
    monkeypatch.setenv("NOTIFY_SECRET", "whsec_" + base64.b64encode(key).decode())
    with_settings(workspace, notify={"url": f"http://127.0.0.1:{server.server_port}/told"})
    talk = begin(workspace)
    hand_over(workspace, talk)
    handoff_jobs.run_once(workspace, lambda: hours_later(0.1))
    server.shutdown()
    server.server_close()
    ((headers, body),) = posted
    assert verify_webhook(headers, body, key, datetime.now(UTC).timestamp())["conversation"] == talk
    assert json.loads(body)["reason"] == "asked"
    assert any(isinstance(e.what, Notified) for e in read_events(workspace.store, talk))


# What goes ----------------------------------------------------------------------------------------


def test_an_erased_conversation_leaves_no_word_and_the_chain_verifies(workspace: Workspace) -> None:
    talk = begin(workspace)
    hand_over(workspace, talk)
    conversing.say(workspace, talk, "the purple elephant told me", str(uuid.uuid4()))
    advising.claim(workspace, talk, advising.EVERYBODY)
    advising.reply(workspace, talk, advising.EVERYBODY, "which elephant?", str(uuid.uuid4()))
    assert count_phrases(workspace.store, ["purple elephant"])["answers"] == 1
    erase_rows(workspace.store, select_conversation(workspace.store, talk), "person")
    assert count_phrases(workspace.store, ["purple elephant", "which elephant"])["answers"] == 0
    with pytest.raises(NotFound, match="was erased"):
        conversing.events_after(workspace, talk, 0)
    with pytest.raises(NotFound):
        conversing.check_owner(workspace, talk, KEY)
    assert verify_chain(workspace.store).broken is None


def test_what_an_advisor_repeated_of_a_deleted_document_goes_with_it(workspace: Workspace) -> None:
    talk = begin(workspace)
    answer = ask(workspace, "How many days of annual leave do I have?", talk)
    hand_over(workspace, talk)
    advising.claim(workspace, talk, advising.EVERYBODY)
    quote = answer.citations[0].quote
    advising.reply(workspace, talk, advising.EVERYBODY, f"It says: {quote}", str(uuid.uuid4()))
    advising.reply(workspace, talk, advising.EVERYBODY, "Anything else?", str(uuid.uuid4()))
    cited = answer.citations[0]
    erase_quotes(workspace.store, cited.document_id, cited.uri)
    texts = [event.text for event in read_events(workspace.store, talk) if event.by == "advisor"]
    assert "Anything else?" in texts
    assert not any(quote in text for text in texts)
    assert verify_chain(workspace.store).broken is None

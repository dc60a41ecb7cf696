"""A workspace answers, shows, hides, describes itself."""

import asyncio
from collections.abc import Iterator
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from app.conftest import Open
from ombud.app import Workspace, asking, create_workspace, library, measuring, record_folder
from ombud.errors import BadSetting, EngineError, NotFound, SetupError, UnknownName
from ombud.ingest import sync_sources
from ombud.settings import load
from ombud.store import RecordedSource
from ombud.types import Answer, Message, Person, Question

GB, FR, NOBODY = Person(country="GB"), Person(country="FR"), Person()
FILES = {
    "gb.md": "---\ncountry: GB\n---\n# Annual leave\n\nEmployees in Great Britain have 26 days of annual leave.\n",
    "fr.md": "---\ncountry: FR\n---\n# Annual leave\n\nEmployees in France have 31 days of annual leave.\n",
    "hotel.md": "# Travel\n\nHotel costs on business trips are reimbursed up to 220 euros a night.\n",
    "pay.md": "---\naudience: {roles: [manager]}\n---\n# Pay\n\nThe pay band of grade G5 ends at 61,000 pounds.\n",
    "old.md": "---\neffective_to: 2020-12-31\n---\n# Parking\n\nParking costs 3 pounds a day in the garage.\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    home = tmp_path_factory.mktemp("home")
    (home / "docs").mkdir()
    for name, text in FILES.items():
        (home / "docs" / name).write_text(text)
    made = Workspace(home, {"models": {"embedder": "none"}, "plan": {"abstain": 0.05}})
    (report,) = sync_sources(
        made.ingest,
        [
            record_folder(
                made.settings, made.store, RecordedSource(name="", path=str(home / "docs"))
            )
        ],
    )
    assert report.ok
    yield made
    made.close()


def uris(found: Any) -> set[str]:
    return {hit.chunk.uri for hit in found.hits}


def ask(workspace: Workspace, text: str, person: Person = GB, **options: Any) -> Answer:
    return asyncio.run(asking.ask(workspace, Question(text=text, asker=person, **options)))


LEAVE = "How many days of annual leave do employees have?"
PAY = "Where does the pay band of grade G5 end?"


def test_each_country_gets_its_own_answer(workspace: Workspace) -> None:
    british, french = ask(workspace, LEAVE, GB), ask(workspace, LEAVE, FR)
    assert "26 days" in british.text
    assert "31 days" in french.text
    assert "31 days" not in british.model_dump_json()
    assert "26 days" not in french.model_dump_json()


def test_a_server_knows_the_documents_words_before_the_first_question(
    workspace: Workspace,
) -> None:
    workspace.warm(seconds=30)
    words = workspace.index.vocabularies
    assert words is not None
    assert words.ready(seconds=0)
    assert "26 days" in ask(workspace, "How many days of anual leav do employes have?").text


def test_every_citation_is_verbatim_in_the_stored_text(workspace: Workspace) -> None:
    answer = ask(workspace, LEAVE)
    assert answer.citations
    for citation in answer.citations:
        document = library.document(workspace, citation.document_id, GB, citation.digest)
        assert document.text[citation.start : citation.end] == citation.quote
        assert document.digest == sha256(FILES["gb.md"].encode()).hexdigest()


def test_what_a_role_hides_is_hidden_everywhere(workspace: Workspace) -> None:
    manager = Person(country="GB", roles=("manager",))
    identity = library.document(workspace, "docs/pay.md", None).id
    assert "docs/pay.md" in uris(asyncio.run(asking.search(workspace, PAY, manager))[0])
    assert "61,000" in ask(workspace, PAY, manager).text
    for outsider in (GB, NOBODY, Person(country="GB", roles=("employee",))):
        evidence, trace = asyncio.run(asking.search(workspace, PAY, outsider))
        assert "docs/pay.md" not in uris(evidence)
        assert identity not in trace.model_dump_json()
        answer = ask(workspace, PAY, outsider)
        assert "61,000" not in answer.model_dump_json()
        assert identity not in answer.model_dump_json()
        assert "docs/pay.md" not in {d.uri for d in library.documents(workspace, outsider)}
        with pytest.raises(NotFound):
            library.document(workspace, identity, outsider)
        with pytest.raises(NotFound):
            library.document(workspace, "docs/pay.md", outsider)
    assert library.document(workspace, identity, manager).uri == "docs/pay.md"


def test_the_operator_sees_all_documents_and_people_theirs(workspace: Workspace) -> None:
    def listed(person: Person | None, as_of: date | None = None) -> set[str]:
        return {d.uri.removeprefix("docs/") for d in library.documents(workspace, person, as_of)}

    assert listed(None) == set(FILES)
    assert listed(GB) == {"gb.md", "hotel.md"}
    assert listed(FR) == {"fr.md", "hotel.md"}
    assert listed(NOBODY) == {"hotel.md"}
    assert listed(NOBODY, date(2020, 6, 1)) == {"hotel.md", "old.md"}


def test_a_document_of_another_country_is_not_found(workspace: Workspace) -> None:
    with pytest.raises(NotFound) as there:
        library.document(workspace, "docs/fr.md", GB)
    with pytest.raises(NotFound) as nowhere:
        library.document(workspace, "docs/xx.md", GB)
    assert str(there.value) == str(nowhere.value).replace("xx.md", "fr.md")


def test_an_expired_document_still_opens_but_is_not_searched(workspace: Workspace) -> None:
    assert library.document(workspace, "docs/old.md", GB).title == "Parking"
    query = "parking costs in the garage"
    assert "docs/old.md" not in uris(asyncio.run(asking.search(workspace, query, GB))[0])
    evidence, trace = asyncio.run(asking.search(workspace, query, GB, as_of=date(2020, 12, 31)))
    assert "docs/old.md" in uris(evidence)
    said = "Parking (docs/old.md) is no longer in force: it ended on 2020-12-31."
    assert said in trace.notes
    answer = ask(workspace, query, GB, as_of=date(2020, 12, 31))
    assert "3 pounds" in answer.text
    assert said in answer.trace.notes
    assert answer.citations[0].effective_to == date(2020, 12, 31)
    assert not any("in force" in note for note in ask(workspace, LEAVE).trace.notes)


def test_without_a_country_a_note_says_what_is_hidden(workspace: Workspace) -> None:
    _, trace = asyncio.run(asking.search(workspace, "annual leave", NOBODY))
    assert any("2 of the best" in note for note in trace.notes)
    assert asyncio.run(asking.search(workspace, "annual leave", GB))[1].notes == ()
    assert any("2 of the best" in note for note in ask(workspace, LEAVE, NOBODY).trace.notes)


def test_a_note_about_hidden_countries_counts_nothing_of_other_roles(workspace: Workspace) -> None:
    _, trace = asyncio.run(asking.search(workspace, "pay band grade", NOBODY))
    assert trace.notes == ()


def test_k_and_mode_change_the_search(workspace: Workspace) -> None:
    evidence, trace = asyncio.run(
        asking.search(workspace, "annual leave hotel costs", GB, k=1, mode="sparse")
    )
    assert len(evidence.hits) == 1
    assert (trace.plan.k, trace.plan.mode) == (1, "sparse")
    assert trace.degraded == ()


def test_only_the_named_sources_are_searched(workspace: Workspace) -> None:
    assert uris(
        asyncio.run(asking.search(workspace, "annual leave", GB, plan={"sources": ["docs"]}))[0]
    ) >= {"docs/gb.md"}
    assert (
        asyncio.run(asking.search(workspace, "annual leave", GB, plan={"sources": ["elsewhere"]}))[
            0
        ].hits
        == ()
    )


def test_a_trace_names_chunks_but_never_quotes_them(workspace: Workspace) -> None:
    answer = ask(workspace, LEAVE)
    assert answer.trace.evidence
    assert "Great Britain" not in answer.trace.model_dump_json()
    assert answer.trace.index_version == workspace.engine.version()


def test_history_completes_a_follow_up(workspace: Workspace) -> None:
    earlier = (Message(role="user", content="Who pays the hotel on business trips?"),)
    alone = asyncio.run(asking.search(workspace, "And up to how much?", GB))[0]
    assert "docs/hotel.md" not in uris(alone)
    assert "docs/hotel.md" in uris(
        asyncio.run(asking.search(workspace, "And up to how much?", GB, history=earlier))[0]
    )


# Conversations ------------------------------------------------------------------------------------


def test_a_conversation_keeps_both_sides_and_is_looked_back_on(workspace: Workspace) -> None:
    talk = asking.new_conversation(workspace, GB)
    question = Question(text="Who pays the hotel on business trips?", asker=GB)
    first = asyncio.run(asking.ask(workspace, question, conversation_id=talk))
    assert first.conversation_id == talk
    assert asking.stored_answer(workspace, first.id) == first
    assert [(m.role, m.content) for m in asking.messages(workspace, talk)] == [
        ("user", question.text),
        ("assistant", first.text),
    ]
    again = asyncio.run(
        asking.ask(workspace, Question(text="And up to how much?", asker=GB), conversation_id=talk)
    )
    assert "hotel" in again.trace.queries[0].text
    assert len(asking.messages(workspace, talk)) == 4


def test_history_overrides_the_conversation(workspace: Workspace) -> None:
    talk = asking.new_conversation(workspace, GB)
    asyncio.run(
        asking.ask(
            workspace,
            Question(text="Who pays the hotel on business trips?", asker=GB),
            conversation_id=talk,
        )
    )
    earlier = (Message(role="user", content="My annual leave this year"),)
    asked = Question(text="And up to how much?", asker=GB, history=earlier)
    query = asyncio.run(asking.ask(workspace, asked, conversation_id=talk)).trace.queries[0]
    assert "annual leave" in query.passage
    assert "hotel" not in query.passage


@pytest.mark.parametrize("history", [(), (Message(role="user", content="Leave?"),)])
def test_an_unknown_conversation_is_not_found(
    workspace: Workspace, history: tuple[Message, ...]
) -> None:
    with pytest.raises(NotFound):
        asyncio.run(
            asking.ask(
                workspace, Question(text=LEAVE, asker=GB, history=history), conversation_id="nope"
            )
        )
    with pytest.raises(NotFound):
        asking.messages(workspace, "nope")
    with pytest.raises(NotFound):
        asking.stored_answer(workspace, "nope")


# Plans, personas ----------------------------------------------------------------------------------


def test_the_request_wins_over_the_country_and_the_country_over_the_plan(open_home: Open) -> None:
    workspace = open_home("[plan]\nk = 3\npool = 40\n[country.GB.plan]\nk = 4\npool = 50\n")
    assert asking.plan_of(workspace, NOBODY, {}).plan.k == 3
    assert asking.plan_of(workspace, FR, {}).plan.k == 3
    assert (
        asking.plan_of(workspace, GB, {}).plan.k,
        asking.plan_of(workspace, GB, {}).plan.pool,
    ) == (
        4,
        50,
    )
    assert (
        asking.plan_of(workspace, GB, {"k": 5}).plan.k,
        asking.plan_of(workspace, GB, {"k": 5}).plan.pool,
    ) == (
        5,
        50,
    )


@pytest.mark.parametrize(
    ("request_", "hint"),
    [({"fussion": "rrf"}, "`fusion`"), ({"kk": 1}, "`k`"), ({"mode": "lexical"}, "hybrid")],
)
def test_a_wrong_knob_is_named(open_home: Open, request_: dict[str, Any], hint: str) -> None:
    with pytest.raises(BadSetting) as wrong:
        asking.plan_of(open_home(), GB, request_)
    assert hint in wrong.value.hint + str(wrong.value)


@pytest.mark.parametrize(
    ("person", "request_"), [(Person(persona="hr"), {}), (GB, {"persona": "hr"})]
)
def test_an_unknown_persona_is_an_unknown_name(
    open_home: Open, person: Person, request_: dict[str, Any]
) -> None:
    workspace = open_home()
    assert (
        asking.plan_of(workspace, Person(persona="employee"), {"persona": "employee"}).plan.persona
        == "employee"
    )
    with pytest.raises(UnknownName, match="`hr`") as wrong:
        asking.plan_of(workspace, person, request_)
    assert "employee" in wrong.value.hint


def test_today_is_a_day_of_the_workspace(open_home: Open) -> None:
    east = open_home('[general]\ntimezone = "Pacific/Kiritimati"\n').today()
    west = open_home('[general]\ntimezone = "Pacific/Pago_Pago"\n').today()
    assert east - west in (timedelta(days=1), timedelta(days=2))


# What it says of itself ---------------------------------------------------------------------------


def test_it_describes_what_answers(workspace: Workspace, open_home: Open) -> None:
    told = measuring.describe(workspace)
    assert told["models"] == {"embedder": "none", "chat": "none"}
    assert told["index_version"] == workspace.engine.version()
    digests = {
        measuring.describe(open_home(f"[plan]\nk = {k}\n"))["config_digest"] for k in (3, 4, 3)
    }
    assert len(digests) == 2


def test_passages_are_all_chunks_once(workspace: Workspace) -> None:
    assert sorted(c.uri for c in library.passages(workspace)) == sorted(
        f"docs/{name}" for name in FILES
    )


def test_choices_are_what_documents_are_written_for(workspace: Workspace) -> None:
    assert library.known_audiences(workspace) == {
        "countries": ["FR", "GB"],
        "roles": ["manager"],
        "grades": [],
        "contracts": [],
    }


def test_an_empty_workspace_is_not_ready_and_says_why(
    workspace: Workspace, open_home: Open
) -> None:
    assert library.why_not_ready(workspace) == ""
    empty = open_home()
    assert "ombud sync" in library.why_not_ready(empty)
    assert library.documents(empty, None) == []
    assert list(library.passages(empty)) == []
    assert asyncio.run(asking.search(empty, "leave", GB))[0].hits == ()
    assert ask(empty, LEAVE).outcome == "denied"


def test_deleting_needs_a_document(open_home: Open, tmp_path: Path) -> None:
    workspace = open_home()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "leave.md").write_text(FILES["hotel.md"])
    sync_sources(
        workspace.ingest,
        [
            record_folder(
                workspace.settings,
                workspace.store,
                RecordedSource(name="", path=str(tmp_path / "d")),
            )
        ],
    )
    gone = library.delete_document(workspace, "d/leave.md")
    assert gone.uri == "d/leave.md"
    assert list(library.passages(workspace)) == []
    for again in (gone.id, gone.uri):
        with pytest.raises(NotFound):
            library.delete_document(workspace, again)


def test_an_index_of_another_embedder_is_refused_and_survives(
    workspace: Workspace, tmp_path: Path
) -> None:
    with_model = Workspace(workspace.home, {"models": {"embedder": "minilm"}})
    with pytest.raises(EngineError, match="built with the embedder") as wrong:
        _ = with_model.engine
    assert wrong.value.hint
    with_model.close()
    assert library.why_not_ready(workspace) == ""


# Making one ---------------------------------------------------------------------------------------


def test_a_new_workspace_has_every_default(tmp_path: Path) -> None:
    target = create_workspace(tmp_path / "deep" / "new")
    assert target == tmp_path / "deep" / "new" / "ombud.toml"
    assert load(target.parent).model_dump() == load(None).model_dump()


def test_the_commented_settings_are_settings(tmp_path: Path) -> None:
    text = create_workspace(tmp_path).read_text()
    keys = [
        line
        for line in text.splitlines()
        if line.startswith("# ") and (" = " in line or line[2] == "[")
    ]
    assert len(keys) > 10
    # `host` of prose is no key: an example is a line whose comment sign can simply be taken away.
    uncommented = "\n".join(line[2:] if line in keys else line for line in text.splitlines())
    (tmp_path / "ombud.toml").write_text(uncommented)
    settings = load(tmp_path)
    assert settings.source[0].name == "handbook"
    assert settings.country["GB"].plan == {"k": 10}
    assert settings.sync.every == "7d"


def test_an_existing_workspace_is_never_overwritten(tmp_path: Path) -> None:
    target = create_workspace(tmp_path)
    target.write_text("[plan]\nk = 3\n")
    with pytest.raises(SetupError, match="exists already"):
        create_workspace(tmp_path)
    assert target.read_text() == "[plan]\nk = 3\n"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match="cannot be written") as wrong:
        create_workspace(tmp_path / "file")
    assert wrong.value.hint

"""How an answer ends, and in which language it is: sources, the contact of the topic, what could
not be done."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from answer.asking import (
    FR,
    GB,
    LEAVE,
    NOBODY,
    Script,
    ask,
    claim,
    company,
    draft,
    label,
    with_model,
)
from ombud.answer.languages.language import apology, name_of, question_language
from ombud.answer.sources import sources_of
from ombud.app import Workspace, asking, library
from ombud.store import count_phrases, erase_quotes, read_reasoning
from ombud.types import Answer, Citation, Claim, Person
from store.places import database

TRUE = "You have 26 days of annual leave a year."
EXPIRES = "Unused days expire on 31 March."
FLOOR = "Everywhere employees have at least 20 days of annual leave a year."
CARS = "Company cars are returned on the last working day of the contract."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("home"), plan={"abstain": 0.0})
    yield shelf.workspace
    shelf.workspace.close()


def written(
    home: Workspace, *facts: tuple[str, str], person: Person = GB, text: str = LEAVE, **more: Any
) -> Answer:
    """By a model that makes claims of passages that hold some words."""

    def write(prompt: str) -> dict[str, Any]:
        claims = [claim(said, label(prompt, words)) for said, words in facts]
        labelled = {name: label(prompt, words) for _, words in facts for name in [words]}
        sources = [
            {"passage": labelled[words], "covers": line} for words, line in more.get("covers", ())
        ]
        return draft(*claims, sources=sources)

    return ask(with_model(home, Script(write).chat), text, person)


# Sources ------------------------------------------------------------------------------------------


def test_the_document_that_most_rests_on_comes_first(home: Workspace) -> None:
    answer = written(home, (FLOOR, "20 days"), (TRUE, "26 days"), (EXPIRES, "31 March"))
    assert [(s.uri, s.citations) for s in answer.sources] == [
        ("docs/leave-gb.md", (1, 2)),
        ("docs/leave-floor.md", (0,)),
    ]
    assert [s.title for s in answer.sources] == ["Leave in Great Britain", "Leave worldwide"]


def test_only_what_is_cited_is_a_source(home: Workspace) -> None:
    answer = written(home, (TRUE, "26 days"))
    assert [s.uri for s in answer.sources] == ["docs/leave-gb.md"]
    assert len(answer.trace.evidence) > 1
    denied = ask(with_model(home, Script(draft(outcome="denied")).chat), LEAVE)
    assert denied.sources == ()


def test_without_a_model_headings_say_what_a_source_covers(home: Workspace) -> None:
    answer = ask(with_model(home, None), LEAVE)
    by_uri = {s.uri: s.covers for s in answer.sources}
    assert by_uri["docs/leave-gb.md"].split("; ")[0] == "Annual leave"
    assert {place for s in answer.sources for place in s.citations} == set(
        range(len(answer.citations))
    )


def test_a_model_says_it_in_its_own_words_when_they_are_borne_out(home: Workspace) -> None:
    facts = ((TRUE, "26 days"), (FLOOR, "20 days"))
    lines = (
        ("26 days", "Annual leave of employees in Great Britain."),
        ("20 days", "Free pizza for 99 years"),
    )
    first, second = written(home, *facts, covers=lines).sources
    assert first.covers == "Annual leave of employees in Great Britain"
    assert second.covers == "Annual leave floor"  # the heading, for the passage knows of no pizza


def test_a_line_about_what_is_not_cited_is_left_out(home: Workspace) -> None:
    script = Script(
        lambda p: draft(
            claim(TRUE, label(p, "26 days")),
            sources=[
                {"passage": label(p, "20 days"), "covers": "Annual leave floor"},
                {"passage": "G99", "covers": "x"},
            ],
        )
    )
    (source,) = ask(with_model(home, script.chat), LEAVE).sources
    assert source.covers == "Annual leave / Carrying over"


def cited(uri: str, *trail: str, chunk: str = "c") -> Citation:
    return Citation(
        chunk_id=chunk,
        document_id=uri,
        title=uri,
        uri=uri,
        quote="q",
        start=0,
        end=1,
        digest="",
        trail=trail,
    )


def test_lines_are_short_and_say_nothing_twice() -> None:
    trails = [("a", "Leave"), ("a", "Leave"), ("a",), ("a", "Pay"), ("a", "Cars"), ("a", "Trips")]
    citations = [cited("a", *trail) for trail in trails]
    (source,) = sources_of([Claim(text="x", citations=tuple(range(6)))], citations, {})
    assert source.covers == "Leave; Pay; Cars"
    (source,) = sources_of([Claim(text="x", citations=(0,))], [cited("a", "a", "word " * 50)], {})
    assert len(source.covers) <= 120
    assert source.covers.endswith("word…")
    (source,) = sources_of([Claim(text="x", citations=(0,))], [cited("a", "a")], {})
    assert source.covers == ""


def test_an_erased_document_leaves_no_title_in_a_stored_answer(tmp_path: Any) -> None:
    shelf = company(tmp_path, plan={"abstain": 0.0})
    answer = ask(with_model(shelf.workspace, None), LEAVE)
    first = answer.citations[0]
    assert erase_quotes(shelf.workspace.store, first.document_id, first.uri)["answers"] == 1
    kept = asking.stored_answer(shelf.workspace, answer.id)
    (source,) = [s for s in kept.sources if s.uri == first.uri]
    assert (source.title, source.covers) == ("[evidence erased]", "")
    shelf.workspace.close()


# Contacts -----------------------------------------------------------------------------------------


def test_the_contact_is_that_of_what_was_cited(home: Workspace) -> None:
    text = (
        "How many days of annual leave and what dinner costs on a business trip do employees "
        "have in a year?"
    )
    leave, travel = (
        (TRUE, "26 days"),
        ("Dinner on a business trip is reimbursed up to 35 euros.", "35 euros"),
    )
    assert [c.name for c in written(home, leave, text=text).contacts] == ["HR desk"]
    assert [c.name for c in written(home, travel, text=text).contacts] == ["Travel desk"]


# Languages ----------------------------------------------------------------------------------------

GERMAN = (
    "Wie viele Tage Jahresurlaub (annual leave) haben Beschäftigte in einem Jahr, und wann "
    "verfallen sie?"
)
FRENCH = (
    "Combien de jours de congé annuel (annual leave) les employés ont-ils par an, et quand "
    "expirent-ils ?"
)
LONG = "How many days of annual leave do employees in Great Britain have in a year, please?"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (LONG, "en"),
        (GERMAN, "de"),
        (FRENCH, "fr"),
        ("Jours de congé ?", ""),
        ("", ""),
        ("1 2 3", ""),
    ],
)
def test_the_language_of_a_question(text: str, language: str) -> None:
    assert question_language(text) == language


def test_without_a_model_it_says_that_it_quotes_another_language(home: Workspace) -> None:
    home = with_model(home, None)
    german, french, english = (ask(home, text) for text in (GERMAN, FRENCH, LONG))
    assert "die dokumente sind auf englisch" in german.text.partition("\n")[0].lower()
    assert "les documents sont en anglais" in french.text.partition("\n")[0].lower()
    assert not english.text.startswith("The documents")
    assert german.claims
    assert "26 days of annual leave" in german.text


def test_a_language_without_words_of_ours_is_told_in_english() -> None:
    said = apology("quoted", "fi", {"en"})
    assert said.startswith(
        "The documents that answer this are not in the language of your question. I quote them"
    )
    assert (
        apology("quoted", "fi", {"fi", "en"})
        == apology("quoted", "", {"en"})
        == apology("quoted", "fi", ())
        == ""
    )
    assert (name_of("de"), name_of("fi")) == ("German", "fi")


def test_every_language_says_both() -> None:
    for code in ("en", "de", "fr", "es", "it", "nl", "pt", "pl"):
        for kind in ("quoted", "written"):
            assert question_language(apology(kind, code, {"xx"})) == code


def test_a_draft_in_the_wrong_language_is_asked_for_again(home: Workspace) -> None:
    wrong = (
        "Vous avez 26 jours de congé annuel (annual leave) par année de travail, employees in "
        "Great Britain."
    )
    script = Script(
        lambda p: draft(claim(wrong, label(p, "26 days"))),
        lambda p: draft(claim(TRUE, label(p, "26 days"))),
    )
    answer = ask(with_model(home, script.chat), LONG)
    assert "It is not in English, the language of the question." in script.prompts[1]
    assert answer.text == f"{TRUE} [1]"


def test_what_cannot_be_checked_is_written_in_the_documents_language_and_said(
    home: Workspace,
) -> None:
    deutsch = (
        "Sie haben sechsundzwanzig Urlaubstage im Kalenderjahr, und übrige Tage verfallen Ende "
        "März."
    )
    script = Script(
        lambda p: draft(claim(deutsch, label(p, "26 days"))),
        lambda p: draft(claim(TRUE, label(p, "26 days"))),
    )
    answer = ask(with_model(home, script.chat), GERMAN)
    assert "Say it in the passage's words." in script.prompts[1]
    assert answer.text.startswith(
        "Die Dokumente, die das beantworten, sind nicht auf Deutsch, und nur in ihrer Sprache"
    )
    assert answer.text.endswith(f"\n\n{TRUE} [1]")
    assert [c.text for c in answer.claims] == [TRUE]
    assert deutsch not in answer.model_dump_json()


def test_what_a_verifier_confirms_stays_in_the_language_of_the_question(home: Workspace) -> None:
    deutsch = "Sie haben sechsundzwanzig Urlaubstage im Kalenderjahr."
    script = Script(lambda p: draft(claim(deutsch, label(p, "26 days"))))
    verifier = Script({"claims": [{"number": 1, "verdict": "borne_out"}]})
    asked = with_model(home, script.chat)
    asked.__dict__["answering"] = asked.answering._replace(verifier=verifier.chat)
    answer = ask(asked, GERMAN)
    asked.__dict__["answering"] = asked.answering._replace(verifier=None)
    assert answer.text == f"{deutsch} [1]"


def test_a_french_question_about_french_documents_is_answered_in_french(tmp_path: Any) -> None:
    text = (
        "# Congés\n\nLes salariés ont 31 jours de congé annuel par an. Les jours restants "
        "expirent le 31 mai.\n"
    )
    shelf = company(tmp_path, files={"a.md": (text, {"country": "FR"})}, plan={"abstain": 0.0})
    said = "Vous avez 31 jours de congé annuel par an."
    script = Script(lambda p: draft(claim(said, label(p, "31 jours"))))
    answer = ask(
        with_model(shelf.workspace, script.chat),
        "Combien de jours de congé annuel les salariés ont-ils par an ?",
        FR,
    )
    assert len(script.prompts) == 1
    assert answer.text == f"{said} [1]"
    shelf.workspace.close()


def test_short_questions_are_nobodys_language(home: Workspace) -> None:
    script = Script(lambda p: draft(claim(TRUE, label(p, "26 days"))))
    ask(with_model(home, script.chat), "Annual leave employees", NOBODY)
    assert len(script.prompts) <= 2


# Reasoning ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_a_model_thought_is_kept_apart_and_goes_with_its_documents(
    tmp_path: Any, kind: str
) -> None:
    with database(kind) as url:
        shelf = company(tmp_path, plan={"abstain": 0.0}, store={"url": url})
        thought = "Zanzibar\0: “Employees in Great Britain have 26 days of annual leave a year.”"
        script = Script(lambda p: draft(claim(FLOOR, label(p, "20 days")), reasoning=thought))
        told: list[Any] = []
        answer = ask(
            with_model(shelf.workspace, script.chat),
            LEAVE,
            on_event=lambda *event: told.append(event),
        )
        assert read_reasoning(shelf.workspace.store, answer.id) == thought.replace("\0", "")
        assert "Zanzibar" not in json.dumps([*told, answer.model_dump(mode="json")])
        assert read_reasoning(shelf.workspace.store, "none") == ""

        plain = ask(with_model(shelf.workspace, None), LEAVE)
        assert read_reasoning(shelf.workspace.store, plain.id) == ""

        # The model read Great Britain's page though it cites another.
        (gb,) = [d for d in library.documents(shelf.workspace, None) if d.uri == "docs/leave-gb.md"]
        assert gb.id not in {c.document_id for c in answer.citations}
        assert count_phrases(shelf.workspace.store, ["Zanzibar"])["answers"] == 1
        erase_quotes(shelf.workspace.store, gb.id, gb.uri)
        assert read_reasoning(shelf.workspace.store, answer.id) == ""
        assert count_phrases(shelf.workspace.store, ["Zanzibar"])["answers"] == 0
        assert asking.stored_answer(shelf.workspace, answer.id).text == answer.text
        shelf.workspace.close()

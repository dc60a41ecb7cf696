"""Questions in German, French and Spanish over English pages of the sample, without a chat model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from answer.asking import ask, company
from ombud.app import Workspace, asking
from ombud.errors import SetupError
from ombud.messages import message
from ombud.types import Answer, Message, Person, Question

SAMPLE = Path(__file__).parents[2] / "sample/handbook"
PAGES = {
    "DE": ("de/urlaub.md", "de/krankheit.md"),
    "FR": ("fr/maternite-paternite.md", "fr/conges-payes-rtt.md"),
    "US": ("us/pto-and-holidays.md", "us/pay-and-overtime.md"),
}
EMERGENCY = {"": "Call your local emergency number first.", "FR": "Call 15 or 112 first."}


def pages() -> dict[str, tuple[str, dict[str, str]]]:
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for names in PAGES.values():
        for name in names:
            text = (SAMPLE / name).read_text(encoding="utf-8")
            found[name] = (text, {})
    return found


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    try:
        shelf = company(
            tmp_path_factory.mktemp("sample"),
            "minilm",
            pages(),
            answer={"emergency": EMERGENCY},
        )
    except SetupError as missing:
        pytest.skip(f"the MiniLM wheel is not installed: {missing}")
    yield shelf.workspace
    shelf.workspace.close()


def asked(workspace: Workspace, text: str, country: str) -> Answer:
    return ask(workspace, text, Person(country=country))


@pytest.mark.parametrize(
    ("text", "country", "opening", "quoted"),
    [
        ("Wie viel Urlaub?", "DE", "Die Dokumente sind auf Englisch", "30 days"),
        ("congé paternité durée", "FR", "Les documents sont en anglais", "25 days"),
    ],
)
def test_a_question_is_answered_from_english_pages(
    sample: Workspace, text: str, country: str, opening: str, quoted: str
) -> None:
    answer = asked(sample, text, country)
    assert answer.text.startswith(opening)
    assert quoted in answer.text
    assert answer.outcome == "partial"
    assert any("searched in English words" in note for note in answer.trace.degraded)


def test_what_is_not_sure_is_said_in_the_askers_language(sample: Workspace) -> None:
    answer = asked(sample, "¿cuántos días de vacaciones?", "US")
    assert answer.text.startswith(message("answer.closest", "es"))
    assert "PTO" in answer.text
    assert (answer.outcome, answer.action) == ("denied", "contact")


@pytest.mark.parametrize(
    ("text", "country", "opening", "closing"),
    [
        (
            "Ich suche meinen blauen Regenschirm, hat ihn wer gesehen?",
            "DE",
            "Die Dokumente, die ich lese",
            "Der Kontakt unten kann weiterhelfen.",
        ),
        (
            "Mes beaux-parents n'aiment ni le poisson ni les champignons, que faire ?",
            "FR",
            "Les documents que je lis",
            "Le contact ci-dessous peut vous aider.",
        ),
    ],
)
def test_what_is_not_understood_is_never_answered(
    sample: Workspace, text: str, country: str, opening: str, closing: str
) -> None:
    answer = asked(sample, text, country)
    assert (answer.outcome, answer.action) == ("denied", "contact")
    assert not answer.claims
    assert answer.text.startswith(opening)
    assert answer.text.endswith(closing)


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("erzähl mal einen Witz", "Das liegt außerhalb"),
        ("¿cuál es la capital de Mongolia?", "Esto queda fuera"),
    ],
)
def test_what_is_surely_outside_is_told_in_its_language(
    sample: Workspace, text: str, opening: str
) -> None:
    answer = asked(sample, text, "DE")
    assert (answer.outcome, answer.action) == ("denied", "none")
    assert answer.text.startswith(opening)


def test_an_english_question_is_answered_as_before(sample: Workspace) -> None:
    answer = asked(sample, "How many days of annual leave do I get?", "DE")
    assert "30 days" in answer.text
    assert not any("language" in note for note in answer.trace.degraded)


def test_a_language_without_sentences_is_told_in_english(sample: Workspace) -> None:
    answer = asked(sample, "Hur många semesterdagar har jag varje år och hur söker jag dem?", "DE")
    assert answer.text.startswith("I read the documents in English")


def test_a_person_is_offered_in_the_language_of_the_message(sample: Workspace) -> None:
    answer = asked(sample, "Je veux me suicider, je n'en peux plus", "FR")
    assert answer.action == "handoff"
    assert answer.text.startswith("Si vous ou quelqu'un d'autre êtes en danger")
    assert "Call 15 or 112 first." in answer.text
    assert message("answer.handoff", "fr") in answer.text


def test_what_was_said_in_german_around_the_quotes_is_not_searched_for(sample: Workspace) -> None:
    first = asked(sample, "Wie viel Urlaub?", "DE")
    outside = asked(sample, "erzähl mal einen Witz", "DE")
    history = (
        Message(role="user", content="erzähl mal einen Witz"),
        Message(role="assistant", content=outside.text),
        Message(role="user", content="Wie viel Urlaub?"),
        Message(role="assistant", content=first.text),
    )
    question = Question(text="Und in Teilzeit?", asker=Person(country="DE"), history=history)
    resolved = asking.resolve(sample, question)
    assert resolved.earlier == ("Wie viel Urlaub?",)
    assert "Die Dokumente sind auf Englisch" not in resolved.standalone

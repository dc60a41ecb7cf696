"""Questions in languages that the embedder does not know, in the English words of policies."""

from pathlib import Path

import pytest

from ingest.shelf import Shelf
from ombud.retrieve.strategies.glossary import Glossary, GlossaryEntry
from ombud.retrieve.strategies.thesaurus import english_words
from ombud.retrieve.strategies.thesaurus.translating import (
    Translation,
    translate,
    unread_language,
)
from ombud.types import Person, Question

ENGLISH = "# Leave\n\nThe Betriebsrat agrees the annual leave plan of the 401k office.\n"
GERMAN = "# Urlaub\n\nBeschäftigte haben dreißig Tage Urlaub im Jahr.\n"
GLOSSARY = Glossary(
    (
        GlossaryEntry("AU", "sick note", "DE"),
        GlossaryEntry("CET", "time account", "FR"),
    )
)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path)
    made.write("leave.md", ENGLISH)
    made.sync()
    return made


def in_english(text: str, shelf: Shelf, language: str = "de", country: str = "DE") -> Translation:
    question = Question(text=text, asker=Person(country=country))
    return translate(question, language, GLOSSARY, shelf.workspace.engine)


@pytest.mark.parametrize(
    ("language", "asked", "english"),
    [
        ("de", "Wie viel Urlaub?", "annual leave"),
        ("de", "Ueberstunden auszahlen", "overtime"),
        ("de", "Mutterschaftsurlaub", "maternity leave"),
        ("fr", "CONGE PATERNITE", "paternity leave"),
        ("fr", "l’indemnité de départ", "severance"),
        ("es", "dias de vacaciones", "vacation annual leave"),
        ("it", "quante ferie", "annual leave"),
        ("pt", "aviso previo", "notice period"),
        ("pl", "nadgodziny", "overtime"),
        ("nl", "thuiswerken", "work from home"),
    ],
)
def test_a_question_in_the_words_of_policies(language: str, asked: str, english: str) -> None:
    words = [entry.words for entry in english_words(asked, language) if not entry.asks]
    assert len(words) == 1
    assert english in words[0]


def test_the_longest_entry_counts() -> None:
    words = [entry.words for entry in english_words("Resturlaub übertragen", "de")]
    assert words == ["carry over unused annual leave"]


def test_every_line_of_every_list_can_be_found() -> None:
    folder = Path(english_words.__code__.co_filename).parent
    for path in sorted(folder.glob("??.txt")):
        language = path.stem
        for line in path.read_text(encoding="utf-8").splitlines():
            terms, colon, words = line.partition(":")
            if language == "en" or line.startswith("#"):
                continue
            assert colon, line
            assert words.strip(), line
            for term in terms.removeprefix("?").split(","):
                assert english_words(term.replace("*", ""), language), (language, term)


def test_names_stay_and_how_it_is_asked_goes_first(shelf: Shelf) -> None:
    translation = in_english("Wie lange plant der Betriebsrat mit Kunigunde den Urlaub?", shelf)
    assert translation.question.text == "how long works council annual leave days"
    assert translation.ideas == 2
    assert translation.understood == 0.5
    assert in_english("Urlaub im 401k Büro", shelf).question.text.endswith("401k")


def test_an_english_term_in_a_german_question_is_understood(shelf: Shelf) -> None:
    translation = in_english("Wie viele Tage annual leave bekomme ich denn?", shelf)
    assert translation.question.text == "how many annual leave"
    assert (translation.ideas, translation.understood) == (1, 1.0)


def test_what_there_are_no_words_for_stays_as_it_is(shelf: Shelf) -> None:
    translation = in_english("Wie lange kocht ein Ei?", shelf)
    assert translation.question.text == "Wie lange kocht ein Ei?"
    assert (translation.ideas, translation.understood) == (0, 0.0)


def test_abbreviations_of_the_askers_country_are_spelt_out(shelf: Shelf) -> None:
    assert in_english("Bis wann muss die AU da sein?", shelf).question.text.endswith("sick note")
    assert not in_english("Bis wann muss die AU da sein?", shelf, country="FR").ideas
    assert not in_english("il est au marché", shelf, "fr", "DE").ideas


def test_only_a_language_that_nobody_here_reads_is_unread(shelf: Shelf, tmp_path: Path) -> None:
    engine = shelf.workspace.engine
    assert unread_language("Wie viel Urlaub?", engine, None) == "de"
    assert unread_language("How much leave?", engine, None) == ""
    german = Shelf(tmp_path / "german")
    german.write("urlaub.md", GERMAN, language="de")
    german.sync()
    assert unread_language("Combien de congés ?", german.workspace.engine, None) == ""
    german.workspace.close()

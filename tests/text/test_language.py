"""Which language a text is in."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ombud.text import language
from ombud.text.language import common_words, detect_language, message_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How many days of annual leave do I have every year?", "en"),
        ("Wie viele Urlaubstage habe ich in jedem Kalenderjahr?", "de"),
        ("Combien de jours de congés payés ai-je chaque année ?", "fr"),
        ("¿Cuántos días de vacaciones tengo cada año en la empresa?", "es"),
        ("Hoeveel vakantiedagen heb ik ieder jaar volgens het contract?", "nl"),
        ("Quanti giorni di ferie ho ogni anno secondo il contratto?", "it"),
        ("年次有給休暇は何日ありますか", "ja"),
        ("我每年有多少天的年假以及如何申请这些假期请告诉我具体的规定", "zh"),
        ("연차휴가는 매년 며칠이며 어떻게 신청할 수 있는지 알려주세요", "ko"),
    ],
)
def test_a_sentence_is_enough(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "Urlaub?", "12345678901234567890 !!! 1234567890", "🏖" * 50])
def test_too_little_is_what_was_said_otherwise(text: str) -> None:
    assert detect_language(text) == "en"
    assert detect_language(text, "fr") == "fr"


def test_a_word_of_japanese_makes_no_english_page_japanese() -> None:
    text = "Every team reviews its own way of working once a month; we call this kaizen (カイゼン)."
    assert detect_language(text) == "en"


def test_several_threads_may_ask() -> None:
    asked = [
        "Wie viele Urlaubstage habe ich in jedem Kalenderjahr?",
        "How many days of annual leave do I have?",
    ] * 10
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(detect_language, asked)) == ["de", "en"] * 10


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wie viel Urlaub?", "de"),
        ("wieviel Urlaub", "de"),
        ("bin krank", "de"),
        ("bin krank was tun", "de"),
        ("wie viele urlaubstage hab ich noch", "de"),
        ("Überstunden ausbezahlt?", "de"),
        ("congé paternité durée", "fr"),
        ("c'est quoi le préavis", "fr"),
        ("dias de vacaciones", "es"),
        ("¿cuántas horas extra?", "es"),
        ("quanti giorni di ferie", "it"),
        ("quantos dias de férias", "pt"),
        ("hoeveel vakantiedagen heb ik", "nl"),
        ("ile mam dni urlopu", "pl"),
        ("休暇は何日ですか", "ja"),
        ("сколько дней отпуска", "ru"),
    ],
)
def test_a_few_words_are_enough_of_a_message(text: str, language: str) -> None:
    assert message_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "matternity pay",
        "whats the expences claim dedline",
        "buisness class",
        "PTO",
        "per diem Paris hotel",
        "Elternzeit application",
        "what is the mutuelle",
        "congé paternité rules for dads in the office",
        "asdfghjkl qwertz",
        "dfgdfgdfg dfg",
        "Who is Jürgen Müller's line manager?",
        "",
        "12345 !!",
        "🏖 🏖",
    ],
)
def test_a_message_is_english_in_doubt(text: str) -> None:
    assert message_language(text) == "en"


def test_common_words_say_nothing_of_a_subject() -> None:
    assert {"wie", "fur"} <= common_words("de")
    assert "urlaub" not in common_words("de")
    assert common_words("fi") == frozenset()


def test_what_is_kept_of_the_model_tells_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first process keeps it for the next; in part, or where nothing can be kept, it is
    unpacked again."""

    def told_anew(cache: Path) -> str:
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
        for remembering in (language._identifier, language._ranked, language._placed):
            remembering.cache_clear()
        return detect_language("Wie viele Urlaubstage habe ich in jedem Kalenderjahr?")

    assert [told_anew(tmp_path), told_anew(tmp_path)] == ["de", "de"]
    (kept,) = (tmp_path / "ombud").iterdir()
    whole = kept.read_bytes()
    for part in (whole[:-1], whole[:100], b""):
        kept.write_bytes(part)
        assert told_anew(tmp_path) == "de"
        assert kept.read_bytes() == whole
    (tmp_path / "file").write_text("no folder")
    assert told_anew(tmp_path / "file") == "de"
    assert told_anew(tmp_path) == "de"

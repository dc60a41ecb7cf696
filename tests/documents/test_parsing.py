"""Who reads what, languages, and what cannot be read."""

import codecs
import random

import pytest

from ombud.documents import kinds, parse
from ombud.errors import SourceError
from ombud.types import Document


def facts(uri: str, **more: str) -> Document:
    return Document.model_validate(
        {"id": "0123456789abcdef", "source": "s", "uri": uri, "title": ""} | more
    )


def test_facts_that_are_known_are_kept() -> None:
    known = facts("a.md", title="Known", language="fr", topic="leave")
    document = parse(b"# Other\n\nThis is clearly English text about leave.", known)
    assert (document.title, document.language, document.topic) == ("Known", "fr", "leave")
    assert document.id == known.id


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Employees may take twenty-five days of paid leave every year.", "en"),
        ("Beschäftigte haben Anspruch auf dreißig Tage bezahlten Urlaub im Jahr.", "de"),
        ("Les salariés ont droit à vingt-cinq jours de congés payés par an.", "fr"),
        ("Los empleados tienen derecho a veintitrés días de vacaciones al año.", "es"),
        (
            "従業員は年間二十日の有給休暇を取得することができます。申請は上長に行ってください。",
            "ja",
        ),
        ("12 34", "en"),
    ],
)
def test_language_is_detected_where_it_is_asked_for(text: str, language: str) -> None:
    assert parse(text.encode(), facts("a.txt", language="")).language == language


@pytest.mark.parametrize(
    ("uri", "data", "says"),
    [
        ("a.xyz", b"text", r"no parser for `\.xyz`"),
        ("README", b"text", "without an ending"),
        ("a.md", b"", "is empty"),
        ("a.txt", b" \n\t ", "is empty"),
        ("a.md", b"---\ntitle: x\n---\n", "no text"),
        ("a.html", b"<script>x</script>", "no text"),
        ("a.txt", bytes(range(256)) * 40, "not text"),
        ("a.pdf", b"<html><body>Log in</body></html>", "no PDF"),
        ("a.docx", b"PK\x03\x04 and then nothing", "no Word document"),
        ("a.docx", b"\xd0\xcf\x11\xe0" + bytes(600), "encrypted"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_and_a_hint(uri: str, data: bytes, says: str) -> None:
    with pytest.raises(SourceError, match=says) as wrong:
        parse(data, facts(uri))
    assert str(wrong.value).endswith(".")
    assert "\n" not in str(wrong.value)
    assert wrong.value.hint


def test_what_can_be_read_is_what_has_a_parser() -> None:
    assert {
        ".md",
        ".pdf",
        ".docx",
        ".pptx",
        ".xlsx",
        ".csv",
        ".tsv",
        ".eml",
        ".msg",
        ".odt",
    } <= kinds()
    assert ".exe" not in kinds()


def test_other_encodings() -> None:
    assert parse("Prämie für alle".encode("cp1252"), facts("a.txt")).text == "Prämie für alle"
    assert parse("Prämie für alle".encode("utf-16"), facts("a.txt")).text == "Prämie für alle"


def test_ligatures_and_invisible_characters_do_not_hide_words() -> None:
    assert (
        parse("the of\ufb01ce no\u00adtice\u200b period\u00a0ends".encode(), facts("a.txt")).text
        == "the office notice period ends"
    )


def test_binary_data_under_a_mark_of_utf_16_is_refused() -> None:
    noise = random.Random(7).randbytes(20_000)
    for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF8):
        with pytest.raises(SourceError, match="not text"):
            parse(mark + noise, facts("a.txt"))
    for sentence in ("Prämie für alle", "賃金は毎月支払われる", "Премия всем 🏡"):
        assert parse(sentence.encode("utf-16"), facts("a.txt")).text == sentence

"""Texts in the encodings that programs write, read as they were written or refused."""

import pytest

from ombud.documents import parse
from ombud.errors import SourceError
from ombud.types import Document

FRENCH = "Les congés payés sont acquis à raison de 2,5 jours par mois. L’employé prévient son chef."
GERMAN = "Beschäftigte haben Anspruch auf dreißig Tage Urlaub. Überstunden werden ausgeglichen."
POLISH = "Pracownik z długim stażem ma 26 dni urlopu. Zwolnienie na żądanie trwa cztery dni."
CZECH = "Dovolená pro zaměstnance na směny. Žádost o volno předem. Svátek při svatbě dítěte."
TURKISH = "Çalışanlar yılda 14 gün izin hakkına sahiptir. İşveren şartları belirler."
RUSSIAN = "Командировки. Суточные составляют 900 рублей в день. Билеты покупает отдел кадров."
GREEK = "Οι εργαζόμενοι δικαιούνται 25 ημέρες άδειας."
CHINESE = "年假政策。员工每年享有十五天带薪年假。"
TAIWANESE = "員工每年享有十五天特別休假。請假須事先申請。"
JAPANESE = "年次有給休暇は10日です。従業員は申請します。"
KOREAN = "직원은 매년 15일의 연차휴가를 받습니다."


def read(data: bytes, uri: str = "rules.txt") -> Document:
    return parse(data, Document(id="x" * 16, source="s", uri=uri, title=""))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "cp1252"),
        (GERMAN, "cp1252"),
        ("Prämie für José: £20 – § 5", "cp1252"),
        (GERMAN, "mac_roman"),
        (GERMAN, "cp850"),
        (POLISH, "cp1250"),
        (POLISH, "iso8859_2"),
        (CZECH, "cp1250"),
        (TURKISH, "cp1254"),
        (RUSSIAN, "koi8_r"),
        (RUSSIAN, "cp1251"),
        (GREEK, "cp1253"),
        (CHINESE, "gb18030"),
        (TAIWANESE, "big5"),
        (JAPANESE, "cp932"),
        (KOREAN, "cp949"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "utf-16"),
        (CHINESE, "utf-32"),
        (GREEK, "utf-8-sig"),
    ],
)
def test_a_text_is_read_in_its_encoding(text: str, encoding: str) -> None:
    assert read(text.encode(encoding)).text == text


@pytest.mark.parametrize("ending", ["txt", "csv", "md", "html"])
def test_every_format_of_text_has_its_encoding_detected(ending: str) -> None:
    document = read(CZECH.encode("cp1250"), f"rules.{ending}")
    assert document.text == CZECH
    assert not document.loss


def test_what_a_page_declares_wins() -> None:
    meta = '<meta charset="windows-1251">'
    assert read(f"{meta}<p>Отпуск</p>".encode("cp1251"), "a.html").text == "Отпуск"
    xml = '<?xml version="1.0" encoding="iso-8859-2"?><html><body><p>żółć</p></body></html>'
    assert read(xml.encode("iso-8859-2"), "a.xhtml").text == "żółć"
    latin = '<meta charset="iso-8859-1">'
    assert read(f"{latin}<p>5 € – fünf</p>".encode("cp1252"), "a.html").text == "5 € – fünf"
    assert read(f"{meta}<p>Überstunden</p>".encode(), "a.html").text != ""


def test_a_guess_is_reported() -> None:
    document = read("Name;Ort\nMüller;Köln\n".encode("cp850"), "staff.csv")
    assert "Müller" in document.text
    assert "cp850" in document.loss.notes[0]


def test_a_damaged_file_stays_utf_8() -> None:
    document = read("Müller, Köln, Größe".encode() + b"\xff and more words")
    assert document.text.startswith("Müller, Köln, Größe")
    assert document.loss.undecodable == 1


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("Отпуск".encode("cp1251"), "encoding of the file cannot be determined"),
        (bytes(range(256)) * 10, "not text"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(200)) * 3, "not text"),
        (b"a\0\0\0bc\0d" * 50, "not text"),
    ],
)
def test_what_cannot_be_determined_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(SourceError, match=why):
        read(data)

"""Messages made part by part, whose contents are known."""

from email.message import EmailMessage
from email.policy import SMTP

import pytest

from ombud.documents import Chunking, InlineParser, parse
from ombud.errors import SourceError
from ombud.settings import DocumentSettings, IndexSettings
from ombud.types import Document


def parsed(data: bytes, uri: str = "hr/leave.eml") -> Document:
    return parse(data, Document(id="x", source="s", uri=uri, title=""))


def message(text: str = "Leave ends in March.\n\n> When does leave end?\n> Ann\n") -> EmailMessage:
    made = EmailMessage(policy=SMTP)
    made["Subject"] = "Grüße: carry-over of leave"
    made["From"] = "Jörg Müller <hr@example.org>"
    made["To"] = "staff@example.org"
    made["Date"] = "Tue, 31 Mar 2026 09:00:00 +0100"
    made.set_content(text)
    return made


def seen(data: bytes) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in parsed(data).blocks]


def test_subject_people_and_text_without_quotes() -> None:
    assert seen(bytes(message())) == [
        ("heading", "Grüße: carry-over of leave"),
        (
            "text",
            "From: Jörg Müller <hr@example.org>\nTo: staff@example.org\n"
            "Date: Tue, 31 Mar 2026 09:00:00 +0100",
        ),
        ("text", "Leave ends in March."),
    ]
    assert parsed(bytes(message())).loss.quoted == 1
    assert parsed(bytes(message())).title == "Grüße: carry-over of leave"


def test_of_alternatives_html_is_read() -> None:
    made = message("plain")
    made.add_alternative(
        "<h1>Rules</h1><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>",
        "html",
    )
    document = parsed(bytes(made))
    assert [(b.kind, b.level, b.text) for b in document.blocks[2:]] == [
        ("heading", 2, "Rules"),
        ("table", 0, "| A | B |\n| --- | --- |\n| 1 | 2 |"),
    ]
    made = message("plain words")
    made.add_alternative("<img src='x'>", "html")
    assert seen(bytes(made))[2:] == [("text", "plain words")]


def test_attachments_are_named() -> None:
    made = message()
    made.add_attachment(
        b"%PDF", maintype="application", subtype="pdf", filename="Übersicht 2026.pdf"
    )
    made.add_attachment("secret words", filename="notes.txt")
    made.add_attachment(message())
    made.add_attachment(
        b"x",
        maintype="image",
        subtype="png",
        filename="logo.png",
        cid="<logo>",
        disposition="inline",
    )
    said = seen(bytes(made))
    assert said[-2:] == [
        ("text", "Attachments:"),
        ("list", "- Übersicht 2026.pdf\n- notes.txt\n- Grüße: carry-over of leave.eml"),
    ]
    assert "secret" not in str(said)


@pytest.mark.parametrize(
    ("head", "body", "text"),
    [
        ("text/plain; charset=iso-8859-15", "5 € Prämie".encode("iso-8859-15"), "5 € Prämie"),
        ("text/plain; charset=x-unknown", "Prämie".encode("cp1252"), "Prämie"),
        ("text/plain; charset=utf-8", "Prämie".encode("cp1252"), "Prämie"),
        ("text/plain", "Prämie".encode(), "Prämie"),
        ("text/html; charset=windows-1251", "<p>Отпуск</p>".encode("cp1251"), "Отпуск"),
    ],
)
def test_charsets(head: str, body: bytes, text: str) -> None:
    data = f"Subject: x\nContent-Type: {head}\nContent-Transfer-Encoding: 8bit\n\n".encode() + body
    assert parsed(data).blocks[-1].text == text


def test_headers_that_are_broken_are_still_shown() -> None:
    data = (
        b"Subject: =?utf-8?b?!!!?= =?x-no?q?ab?=\nFrom: \xe4@example.org\nTo: "
        + b"a@example.org, " * 900
        + b"\n\nWords."
    )
    document = parsed(data)
    assert document.blocks[-1].text == "Words."
    assert len(document.text) < 5000


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"Just some words in a file.", "no e-mail message"),
        (b"Subject: x\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBORw0K", ""),
        (b"X-Mailer: m\n\n", "no text"),
    ],
)
def test_what_cannot_be_read(data: bytes, says: str) -> None:
    if not says:
        assert parsed(data).text == "x"
        return
    with pytest.raises(SourceError, match=says):
        parsed(data)


def test_messages_in_messages_come_to_an_end() -> None:
    made = b"Content-Type: message/rfc822\n\n" * 5000 + b"Subject: x\n\nWords."
    with pytest.raises(SourceError, match="nests more than 200 parts"):
        parsed(made)
    parts = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(3000)
    )
    with pytest.raises(SourceError, match="nests more than 200 parts"):
        parsed(b"Subject: x\n" + parts)
    deep = b"Subject: x\n" + b"Content-Type: message/rfc822\n\n" * 150 + b"Subject: x\n\nWords."
    assert parsed(deep).title == "x"


def test_no_outlook_message() -> None:
    for data in (b"Subject: x\n\nWords", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000)):
        with pytest.raises(SourceError, match="message"):
            parsed(data, "hr/leave.msg")


def attached_to(made: EmailMessage, uri: str = "hr/leave.eml") -> list[tuple[str, bytes]]:
    facts = Document(id="x", source="s", uri=uri, title="")
    settings = DocumentSettings(processes=0)
    contents = InlineParser(settings).read(bytes(made), facts, Chunking(IndexSettings(), len))
    return [(file.name, file.data) for file in contents.attached]


def test_attachments_come_along_under_names_of_their_own() -> None:
    made = message()
    for words in ("first", "second"):
        made.add_attachment(words, filename="../rules.txt")
    made.add_attachment(b"a;b\n1;2\n", maintype="text", subtype="csv")
    made.add_attachment(b"\0", maintype="application", subtype="zip", filename="all.zip")
    made.add_attachment(b"\0", maintype="application", subtype="zip", filename="Thumbs.db")
    made.add_attachment(message("Forwarded words"))
    names = [name for name, _ in attached_to(made)]
    assert names == ["_rules.txt", "_rules (2).txt", "attachment.csv", names[-1]]
    assert names[-1].endswith("carry-over of leave.eml")
    assert parsed(bytes(made)).loss.attachments == ("all.zip",)
    forwarded = parsed(attached_to(made)[-1][1])
    assert "Forwarded words" in forwarded.text


QUOTED = {
    "en": "It is 28 days.\n\nOn Tue, 3 Mar 2026 at 09:00, Ann <a@b.example> wrote:\n\nIt was 25 days.",
    "outlook": "It is 28 days.\n\nFrom: Ann\nSent: Tuesday\nTo: Bob\nSubject: Leave\n\nIt was 25 days.",
    "de": "Es sind 28 Tage für alle im Haus.\n\nVon: Ann\nGesendet: Dienstag\nAn: Bob\nBetreff: Urlaub\n\n"
    "Bisher waren es 25 Tage.",
}


@pytest.mark.parametrize("kind", QUOTED)
def test_a_reply_does_not_say_again_what_it_quotes(kind: str) -> None:
    made = message(QUOTED[kind])
    assert "25" in parsed(bytes(made)).text
    made["In-Reply-To"] = "<1@example.org>"
    document = parsed(bytes(made))
    assert "28" in document.text
    assert "25" not in document.text
    assert document.loss.quoted == 1


@pytest.mark.parametrize(
    "old",
    [
        "<blockquote type='cite'><p>It was 25 days.</p><blockquote type=cite>20</blockquote></blockquote>",
        "<div class='gmail_quote'><div>On 3 March Ann wrote:</div>It was 25 days.</div>",
        "<div id='appendonsend'></div><hr><div id='divRplyFwdMsg'>From: Ann</div><p>It was 25 days.</p>",
        "<div style='border-top:solid'><p>From: Ann<br>Sent: Tuesday<br>To: Bob</p></div>"
        "<p>It was 25 days.</p>",
    ],
)
def test_what_programs_quote_in_html_is_left_out(old: str) -> None:
    made = message("plain")
    made["References"] = "<1@example.org>"
    made.add_alternative(f"<div><p>It is 28 days.</p></div>{old}", "html")
    document = parsed(bytes(made))
    assert document.text.endswith("It is 28 days.")
    assert document.loss.quoted == 1


def test_what_is_forwarded_stays() -> None:
    made = message(QUOTED["outlook"])
    made["References"] = "<1@example.org>"
    del made["Subject"]
    made["Subject"] = "FW: Leave"
    assert "It was 25 days." in parsed(bytes(made)).text

"""What people enter on a PDF page is read where it stands: form fields and free-text notes."""

import io
from collections.abc import Callable

import pytest
from reportlab.pdfgen.canvas import Canvas

from ombud.documents import parse
from ombud.types import Document


def drawn(draw: Callable[[Canvas], None], replaced: tuple[bytes, bytes] = (b"", b"")) -> Document:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842), pageCompression=0)
    canvas.drawString(72, 760, "The card is kept by the service desk.")
    draw(canvas)
    canvas.save()
    facts = Document(id="x" * 16, source="s", uri="card.pdf", title="", language="en")
    return parse(out.getvalue().replace(*replaced), facts)


def form(canvas: Canvas) -> None:
    fields = canvas.acroForm
    for label, y in (("Months:", 700), ("Model:", 660), ("Insured:", 620), ("Private use:", 580)):
        canvas.drawString(72, y, label)
    fields.textfield(name="months", value="thirty-six", x=200, y=692, height=24)
    fields.choice(
        name="model",
        value="s",
        options=[("Small car", "s"), ("Van", "v")],
        x=200,
        y=652,
        height=24,
        width=120,
    )
    fields.checkbox(name="insured", checked=True, x=200, y=615)
    fields.checkbox(name="private", checked=False, x=200, y=575)


def test_the_value_of_a_field_stands_behind_its_label() -> None:
    text = drawn(form).text
    for line in ("Months: thirty-six", "Model: Small car", "Insured: ☒", "Private use: ☐"):
        assert line in text.replace(" | ", " ")


def test_the_lines_of_a_field_stay_in_order() -> None:
    def notes(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Notes:")
        canvas.acroForm.textfield(
            name="notes",
            value="Hand it in by May.\nAsk for a receipt.",
            x=200,
            y=660,
            width=300,
            height=60,
            fieldFlags="multiline",
        )

    assert "Hand it in by May. Ask for a receipt." in drawn(notes).text


@pytest.mark.parametrize(
    "replaced",
    [
        pytest.param((b"/F 4 ", b"/F 2 "), id="hidden"),
        pytest.param((b"/F 4 ", b"/F 32 "), id="not on a screen"),
        pytest.param((b"/F 4 ", b"/F 4 /OC 9 0 R "), id="on a layer"),
        pytest.param((b"/Ff 0", b"/Ff 8192"), id="password"),
    ],
)
def test_what_a_form_hides_is_not_read(replaced: tuple[bytes, bytes]) -> None:
    def secret(canvas: Canvas) -> None:
        canvas.acroForm.textfield(name="secret", value="Olsen", x=200, y=692)

    assert "Olsen" in drawn(secret).text
    document = drawn(secret, replaced)
    assert "Olsen" not in document.model_dump_json()
    assert document.loss.hidden == (replaced[0] == b"/F 4 ")


def test_a_note_on_the_page_is_read_and_a_comment_is_not() -> None:
    def remark(canvas: Canvas) -> None:
        canvas.textAnnotation("Amended: at most 48,000 euros.", Rect=[72, 500, 300, 520])

    note = (b"/Subtype /Text", b"/Subtype /FreeText")
    assert "Amended: at most 48,000 euros." in drawn(remark, note).text
    assert "Amended" not in drawn(remark).model_dump_json()

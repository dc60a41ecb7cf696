"""Tables of text, whatever separates their cells."""

import pytest

from ombud.documents import chunk, parse
from ombud.errors import SourceError
from ombud.settings import IndexSettings
from ombud.types import Document

TABLE = "| Grade | Days |\n| --- | --- |\n| A | 25 |\n| B | 27,5 |"


def parsed(data: str | bytes, uri: str = "gb/leave-by-grade.csv", pages: int = 2000) -> Document:
    raw = data.encode() if isinstance(data, str) else data
    return parse(raw, Document(id="x", source="s", uri=uri, title="", language=""), pages)


@pytest.mark.parametrize(
    "data",
    [
        'Grade,Days\nA,25\nB,"27,5"\n',
        "Grade;Days\nA;25\nB;27,5\n",
        "Grade\tDays\r\nA\t25\r\nB\t27,5\r\n",
        "Grade|Days\nA|25\nB|27,5",
        "sep=;\nGrade;Days\nA;25\nB;27,5",
        "\ufeffGrade;Days\nA;25\n;\n\nB;27,5",
    ],
)
def test_separators(data: str) -> None:
    document = parsed(data)
    assert [(block.kind, block.text) for block in document.blocks] == [("table", TABLE)]
    assert document.title == "Leave by grade"


def test_tsv_and_other_encodings() -> None:
    assert parsed("Stufe\tPrämie\nA\t5 %\n".encode("cp1252"), "a.tsv").text.startswith(
        "| Stufe | Prämie |"
    )


def test_a_file_without_a_header() -> None:
    assert parsed("Ann,25\nBob,27\n").text == "|  |  |\n| --- | --- |\n| Ann | 25 |\n| Bob | 27 |"
    assert parsed("City,2025,2026\nBonn,25,27\n").text.startswith("| City | 2025 | 2026 |\n| --- |")


def test_lines_above_the_table_are_text() -> None:
    document = parsed("Leave report,,\n\nGrade,Days,Notice\nA,25,4\nB,27,6\n")
    assert [block.kind for block in document.blocks] == ["text", "table"]
    assert document.blocks[0].text == "Leave report"


def test_cells_with_line_breaks_and_bars() -> None:
    assert parsed('What,Rule\nLeave,"in writing\nby noon | early"\n').text.endswith(
        "| Leave | in writing by noon \\| early |"
    )


def test_a_column_alone_is_text() -> None:
    assert [block.kind for block in parsed("First rule\nSecond rule\n").blocks] == ["text", "text"]


def test_chunks_repeat_the_header() -> None:
    document = parsed("Grade,Days\n" + "".join(f"G{n},{n}\n" for n in range(2000)))
    chunks = chunk(document, IndexSettings(), lambda text: len(text.split()))
    assert len(chunks) > 10
    assert all(made.header == "| Grade | Days |\n| --- | --- |" for made in chunks[1:])


def test_rows_are_counted_as_pages() -> None:
    with pytest.raises(SourceError, match="more than 500 rows"):
        parsed("a,b\n" * 501, pages=1)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (bytes(range(256)) * 40, "not text"),
        (b'a,"' + b"b" * 200_000, "no table"),
        (b",,,\n,,\n", "no text"),
    ],
)
def test_what_cannot_be_read(data: bytes, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        parsed(data)

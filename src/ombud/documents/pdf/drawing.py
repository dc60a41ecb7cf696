"""Draw a page of a PDF with a quote marked: `python -m ombud.documents.pdf.drawing`.

A process of its own, as a file may hang or crash the library; `draw_page` starts it with limits on
memory and time."""

import json
import resource
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

from ombud.errors import SourceError

WIDTH = 1200
"""Pixels: sharp on a telephone, readable on a wide screen."""
SECONDS = 15
MEMORY = 2 << 30
MAX_PICTURE_BYTES = 8 << 20
MARK = (255, 236, 140)
"""Colour of a marker pen, under which black stays black."""


def draw_page(file: Path, page: int, quote: str = "") -> bytes:
    """Draw a page, counted from 1, as PNG. Raises SourceError if it cannot be drawn."""
    request = json.dumps({"file": str(file), "page": page, "quote": quote})
    command = [sys.executable, "-m", "ombud.documents.pdf.drawing"]
    try:
        done = subprocess.run(
            command, input=request.encode(), capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise SourceError("Drawing this page takes too long.", hint="Read its text.") from late
    is_png = done.stdout.startswith(b"\x89PNG")
    if done.returncode or not is_png or len(done.stdout) > MAX_PICTURE_BYTES:
        raise SourceError("This page cannot be drawn.", hint="Read its text.")
    return done.stdout


def draw_png(file: str, page: int, quote: str) -> bytes:
    from io import BytesIO

    import pypdfium2 as pdfium  # type: ignore[import-untyped]
    from PIL import Image, ImageChops, ImageDraw

    document = pdfium.PdfDocument(file)
    drawn = document[page - 1]
    scale = WIDTH / drawn.get_width()
    picture = drawn.render(scale=scale).to_pil().convert("RGB")
    marks = Image.new("RGB", picture.size, "white")
    pen = ImageDraw.Draw(marks)
    for left, bottom, right, top in quote_boxes(drawn, quote):
        height = drawn.get_height()
        corners = (left * scale, (height - top) * scale, right * scale, (height - bottom) * scale)
        pen.rectangle(corners, fill=MARK)
    out = BytesIO()
    ImageChops.multiply(picture, marks).save(out, "PNG")
    return out.getvalue()


def quote_boxes(page: Any, quote: str) -> list[tuple[float, float, float, float]]:
    """Find left, bottom, right and top of each line of the quote; none if it is not on the page.
    Only letters and digits are compared: lines, hyphens and tables break the rest."""
    words = page.get_textpage()
    text = words.get_text_range()
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        for plain in unicodedata.normalize("NFKC", letter).casefold():
            if plain.isalnum():
                letters.append(plain)
                places.append(place)
    wanted = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", quote).casefold()))
    start = "".join(letters).find(wanted) if wanted else -1
    if start < 0:
        return []
    first, last = places[start], places[start + len(wanted) - 1]
    count = words.count_rects(first, last - first + 1)
    return [words.get_rect(number) for number in range(count)]


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    request = json.loads(sys.stdin.buffer.read())
    sys.stdout.buffer.write(draw_png(request["file"], request["page"], request["quote"]))


if __name__ == "__main__":
    main()

"""The page of a PDF as it was printed, with the cited words marked: who may see it, what is left
when the document goes."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from ombud.app import Workspace, certify_deletion, library, sync_all
from ombud.documents import draw_page
from ombud.errors import SourceError
from ombud.messages import message
from web.running import HANDBOOK, make_workspace, running


def write_pdf(path: Path) -> None:
    page = Canvas(str(path), pagesize=A4)
    page.setFont("Helvetica", 12)
    page.drawString(72, 760, "Equipment of employees and what it may cost in a year.")
    page.showPage()
    page.setFont("Helvetica", 12)
    page.drawString(72, 700, "Laptops are replaced every four years,")
    page.drawString(72, 684, "and every three years in the laboratory.")
    page.setFont("Helvetica-Bold", 18)
    page.drawString(72, 630, "Telephones")
    page.setFont("Helvetica", 12)
    page.drawString(72, 600, "Telephones are replaced when they break.")
    page.save()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    home = tmp_path_factory.mktemp("originals")
    made = make_workspace(home, handbook=HANDBOOK)
    folder = home / "handbook" / "gb"
    write_pdf(folder / "equipment.pdf")
    (folder / "ombud.yaml").write_text("defaults: {country: GB}\n")
    sync_all(made)
    yield made
    made.close()


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> Iterator[str]:
    with running(workspace) as url:
        yield url


def marked(picture: bytes) -> list[tuple[int, int]]:
    """Places where the marker pen has been: yellow, which the page itself is nowhere."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    found: list[tuple[int, int]] = []
    for top in range(0, image.height, 3):
        for left in range(0, image.width, 3):
            red, green, blue = image.getpixel((left, top))  # type: ignore[misc]
            if red > 200 and green > 180 and blue < 200:
                found.append((left, top))
    return found


def test_a_citation_leads_to_its_page_with_the_lines_marked(
    workspace: Workspace, address: str
) -> None:
    asked = {"question": "How often are laptops replaced?", "person": {"country": "GB"}}
    answer = httpx.post(f"{address}/api/v1/ask", json=asked, timeout=60).json()
    cited = next(one for one in answer["citations"] if "Laptops" in one["quote"])
    place = {name: cited[name] for name in ("start", "end", "digest")}
    where = f"{address}/documents/{cited['document_id']}"
    page = httpx.get(where, params={**place, "country": "GB"})
    source = re.findall(r'<img src="([^"]+)"', page.text)
    assert len(source) == 1
    assert "/pages/2?" in source[0]
    others = re.findall(rf'<a href="([^"]+)"[^>]*>{message("documents.as_printed")}', page.text)
    assert ["/pages/1?" in others[0], "/pages/2?" in others[1]] == [True, True]
    assert httpx.get(address + others[0].replace("&amp;", "&")).status_code == 200
    picture = httpx.get(address + source[0].replace("&amp;", "&"))
    assert picture.headers["content-type"] == "image/png"
    image = Image.open(io.BytesIO(picture.content))
    assert image.width == 1200
    found = marked(picture.content)
    assert found
    # 595 points wide: the lines begin 72 points from the left, 142 and 158 below the top of 842.
    scale = 1200 / A4[0]
    tops = [top / scale for _, top in found]
    assert min(tops) > 842 - 700 - 14
    assert max(tops) < 842 - 684 + 6
    assert min(left for left, _ in found) / scale == pytest.approx(72, abs=4)


def test_who_may_not_read_it_sees_no_page(workspace: Workspace, address: str) -> None:
    (found,) = [one for one in library.documents(workspace, None) if one.uri.endswith(".pdf")]
    where = f"{address}/documents/{found.id}/pages/1"
    assert httpx.get(where, params={"country": "DE"}).status_code == 404
    assert httpx.get(where, params={"country": "GB"}).status_code == 200
    assert httpx.get(where, params={"country": "GB", "digest": "0" * 64}).status_code == 404
    assert httpx.get(f"{address}/documents/{found.id}/pages/0?country=GB").status_code == 422
    missing = httpx.get(f"{address}/documents/{found.id}/pages/9?country=GB")
    assert missing.status_code == 404
    assert "cannot be drawn" in missing.json()["detail"]


def test_a_page_of_text_has_no_picture(workspace: Workspace, address: str) -> None:
    (found,) = [one for one in library.documents(workspace, None) if one.title == "Remote work"]
    assert "<img" not in httpx.get(f"{address}/documents/{found.id}").text
    assert httpx.get(f"{address}/documents/{found.id}/pages/1").status_code == 404


def test_what_is_no_pdf_costs_an_error_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "hostile.pdf"
    for data in (b"", b"%PDF-1.7\n" + b"\x00" * 5000, b"<script>"):
        file.write_bytes(data)
        with pytest.raises(SourceError, match="cannot be drawn"):
            draw_page(file, 1)


def test_a_deletion_takes_the_original_along(tmp_path: Path) -> None:
    made = make_workspace(tmp_path)
    write_pdf(tmp_path / "handbook" / "gb" / "equipment.pdf")
    sync_all(made)
    (found,) = [one for one in library.documents(made, None) if one.uri.endswith(".pdf")]
    assert len(list(made.originals.iterdir())) == 1
    done = certify_deletion(made, found.id)
    assert list(made.originals.iterdir()) == []
    assert {place.name: place.found for place in done.places}["originals: files of it"] == 0
    made.close()

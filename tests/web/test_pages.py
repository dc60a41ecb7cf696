"""The pages as a browser gets them."""

import gzip
import re
from pathlib import Path

import httpx

from ombud.app import Workspace, library
from web.running import SMILE, make_workspace, running


def document_id(workspace: Workspace, name: str) -> str:
    return next(d.id for d in library.documents(workspace, None) if d.uri.endswith(name))


def test_a_document_of_any_name_has_its_page_and_is_cited(tmp_path: Path) -> None:
    name = "global/C# - 50% of what?.md"
    text = "The canteen opens at noon and closes at three."
    workspace = make_workspace(tmp_path, handbook={name: text})
    with running(workspace) as url, httpx.Client(base_url=url, timeout=30) as client:
        asked = {"question": "When does the canteen open?"}
        (citation,) = client.post("/api/v1/ask", json=asked).json()["citations"]
        page = client.get(f"/documents/{citation['document_id']}", params={"start": 0, "end": 20})
        shown = client.get(f"/api/v1/documents/{citation['document_id']}").json()
    workspace.close()
    assert citation["uri"].endswith(name)
    assert page.status_code == 200
    assert "C# - 50% of what?.md" in page.text
    assert text in re.sub("<[^>]+>", "", page.text)
    assert (shown["uri"], shown["text"]) == (citation["uri"], text)


def test_the_chat_page_and_all_it_loads_stay_under_sixty_kilobytes(
    client: httpx.Client,
) -> None:
    weight, seen, waiting = 0, set[str](), ["/"]
    while waiting:
        path = waiting.pop()
        seen.add(path)
        with client.stream("GET", path) as response:
            assert response.status_code == 200, path
            raw = b"".join(response.iter_raw())
        weight += len(raw)
        text = (
            gzip.decompress(raw) if response.headers.get("content-encoding") == "gzip" else raw
        ).decode()
        found = re.findall(r"(?:src|href)=\"(/static/[^\"]+)\"", text)
        found += [
            f"{path.rsplit('/', 1)[0]}/{name}" for name in re.findall(r"from \"\./([\w.]+)\"", text)
        ]
        waiting += [address for address in found if address not in seen and address not in waiting]
    assert len(seen) >= 8
    assert weight <= 60_000


def test_nothing_is_loaded_from_elsewhere_and_nothing_is_inline(client: httpx.Client) -> None:
    html = client.get("/").text
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", html)
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=\"", html)


def test_static_files_are_kept_until_they_change(client: httpx.Client) -> None:
    address = re.findall(r"/static/[^\"]+\.css", client.get("/").text)[0]
    assert "immutable" in client.get(address).headers["cache-control"]
    old = re.sub(r"/static/\w+/", "/static/old/", address)
    assert client.get(old).headers["cache-control"] == "no-cache"
    assert client.get("/static/x/../../settings.py").status_code == 404


def test_the_page_knows_the_organisation_its_countries_and_its_notice(client: httpx.Client) -> None:
    html = client.get("/").text
    assert "Acme Works" in html
    assert '<option value="DE">' in html
    assert '<option value="manager">Manager</option>' in html
    assert "They are not legal advice." in html
    assert "How many days of annual leave do I get?" in html


def test_sample_questions_give_nothing_restricted_away(client: httpx.Client) -> None:
    assert "Pay bands" not in client.get("/").text


def test_a_document_shows_what_it_is_and_the_cited_passage(
    client: httpx.Client, workspace: Workspace
) -> None:
    shown = library.document(workspace, document_id(workspace, "remote.md"), None)
    quote = "You may work from home on up to 2 days a week 🏡 when your manager agrees."
    assert quote in SMILE
    start = shown.text.index(quote)
    params: dict[str, str | int] = {
        "start": start,
        "end": start + len(quote),
        "digest": shown.digest,
    }
    html = client.get(f"/documents/{shown.id}", params=params).text
    assert re.findall(r"<mark>(.*?)</mark>", html) == [quote]
    assert "Global" in html
    assert "handbook/global/remote.md" in html
    assert "There is a newer one" not in html


def test_one_cited_passage_leads_to_the_next(client: httpx.Client, workspace: Workspace) -> None:
    shown = library.document(workspace, document_id(workspace, "travel.md"), None)
    quotes = ["Hotel costs on business trips", "| Lyon | EUR 130 |", "Receipts are uploaded"]
    places = [(shown.text.index(one), shown.text.index(one) + len(one)) for one in quotes]
    cites = ",".join(f"{start}-{end}" for start, end in reversed(places))
    (start, end), last = places[1], places[2]
    place = f"/documents/{shown.id}?digest={shown.digest}&start={start}&end={end}"
    html = client.get(f"{place}&cites={cites}").text
    assert "2 of 3 cited" in html
    (before,) = re.findall(r'href="([^"]+)" aria-label="Previous cited passage"', html)
    (after,) = re.findall(r'href="([^"]+)" aria-label="Next cited passage"', html)
    assert f"start={places[0][0]}" in before
    page = client.get(after.replace("&amp;", "&")).text
    assert re.findall(r"<mark>(.*?)</mark>", page) == [quotes[2]]
    assert "3 of 3 cited" in page
    assert "Next cited passage" not in page
    alone = f"/documents/{shown.id}?start={last[0]}&end={last[1]}&cites={last[0]}-{last[1]}"
    assert "of 1 cited" not in client.get(alone).text
    for wrong in ("1", "1-2,", "1-2;drop", "-1-2"):
        assert client.get(f"/documents/{shown.id}", params={"cites": wrong}).status_code == 422


def test_a_document_says_owner_and_dates_and_draws_its_tables(
    client: httpx.Client, workspace: Workspace
) -> None:
    html = client.get(f"/documents/{document_id(workspace, 'travel.md')}").text
    assert 'href="mailto:travel@example.org"' in html
    assert "from 1 January 2024" in html
    assert "<td>EUR 130</td>" in html


def test_a_document_for_others_is_a_page_that_says_so(
    client: httpx.Client, workspace: Workspace
) -> None:
    address = f"/documents/{document_id(workspace, 'pay.md')}"
    refused = client.get(address, headers={"accept": "text/html"})
    assert refused.status_code == 404
    assert refused.headers["content-type"].startswith("text/html")
    assert "Ask a question" in refused.text
    assert "48,000" in client.get(address, params={"role": "manager"}).text


def test_stored_html_is_shown_and_never_run(client: httpx.Client, workspace: Workspace) -> None:
    html = client.get(f"/documents/{document_id(workspace, 'hostile.md')}").text
    assert "<img" not in html
    assert "<script>window" not in html
    assert "&lt;script&gt;window.hurt" in html

"""The index of documents, the versions of one, and what changed between them."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from ombud.app import Workspace, library, sync_all
from ombud.messages import message
from ombud.types import Block, Document, Person
from ombud.web.documents.comparing import changes
from web.running import HANDBOOK, make_workspace, running

OLD = HANDBOOK["global/travel.md"]
NEW = OLD.replace("EUR 220", "EUR 240").replace("within 30 days", "within 14 days")
NEW += "\n## Trains\n\nTrains of less than four hours are taken in place of planes.\n"
FOLLOWING = (
    "---\ntitle: Remote work 2027\nsupersedes: {uri}\neffective_from: 2027-01-01\n---\n"
    "# Remote work\n\nYou may work from home on up to 3 days a week.\n"
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A handbook in which one page was rewritten and another has a successor."""
    made = make_workspace(tmp_path_factory.mktemp("workspace"))
    remote = next(one for one in library.documents(made, None) if one.title == "Remote work")
    (made.home / "handbook/global/travel.md").write_text(NEW, encoding="utf-8")
    text = FOLLOWING.format(uri=remote.uri)
    (made.home / "handbook/global/remote-2027.md").write_text(text, encoding="utf-8")
    sync_all(made)
    yield made
    made.close()


@pytest.fixture(scope="module")
def address(workspace: Workspace) -> Iterator[str]:
    with running(workspace) as url:
        yield url


def links(html: str) -> list[tuple[str, str]]:
    """(address, words) of every link into a document."""
    found = re.findall(r'<a href="(/documents/[^"]+)">([^<]+)</a>', html)
    return [(href.replace("&amp;", "&"), words) for href, words in found]


def titles(html: str) -> set[str]:
    return {words for _, words in links(html)}


def test_the_index_holds_what_one_may_read_and_no_more(client: httpx.Client) -> None:
    everybody = titles(client.get("/documents").text)
    assert "Travel and expenses" in everybody
    assert "Annual leave in Great Britain" not in everybody
    assert "Pay bands for managers" not in everybody
    british = titles(client.get("/documents", params={"country": "GB"}).text)
    assert british - everybody == {"Annual leave in Great Britain"}
    managers = titles(client.get("/documents", params={"role": "manager"}).text)
    assert managers - everybody == {"Pay bands for managers"}


def test_titles_and_texts_are_searched(client: httpx.Client) -> None:
    found = client.get("/documents", params={"q": "visitors"}).text
    assert "Visitors" in found
    texts = client.get("/documents", params={"q": "yellow badge"}).text
    (hit, *_) = [href for href, _ in links(texts) if "#cited" in href]
    shown = client.get(hit.partition("#")[0]).text
    assert "<mark>" in shown
    nothing = client.get("/documents", params={"q": "pay band of grade G5"}).text
    assert "48,000" not in nothing


def test_hostile_titles_and_questions_stay_text(client: httpx.Client) -> None:
    hostile = '"><script>hurt()</script>'
    page = client.get("/documents", params={"q": hostile, "topic": hostile, "role": hostile}).text
    assert "<script>hurt" not in page
    assert "<img" not in client.get("/documents").text


def test_a_rewritten_page_shows_its_versions_and_what_changed(client: httpx.Client) -> None:
    index = client.get("/documents").text
    (travel,) = [href for href, words in links(index) if words == "Travel and expenses"]
    page = client.get(travel).text
    assert page.count("Travel and expenses</b> (shown here)") == 1
    (changed,) = [href for href, words in links(page) if words == message("documents.what_changed")]
    html = client.get(changed).text
    assert "<del>220</del><ins>240</ins>" in html
    assert "<del>30</del><ins>14</ins>" in html
    assert "<ins>Trains of less than four hours are taken in place of planes.</ins>" in html
    assert "EUR 130" not in html.split("<ins>240</ins>")[0]
    older = [href for href, words in links(page) if words == "Travel and expenses"]
    assert "EUR 220" in client.get(older[0]).text


def test_a_successor_and_what_it_follows_are_versions_of_one_another(
    client: httpx.Client,
) -> None:
    index = client.get("/documents").text
    (remote,) = [href for href, words in links(index) if words == "Remote work"]
    page = client.get(remote).text
    assert message("documents.in_force_from", day="1 January 2027") in page
    (changed,) = [href for href, words in links(page) if words == message("documents.what_changed")]
    html = client.get(changed).text
    assert "<ins>3</ins>" in html


def test_what_one_may_not_read_has_no_versions_for_one(client: httpx.Client) -> None:
    managers = client.get("/documents", params={"role": "manager"}).text
    (pay,) = [href for href, words in links(managers) if words == "Pay bands for managers"]
    identity = pay.split("/")[2].partition("?")[0]
    opened = client.get(pay)
    digest = re.search(r"<code>(\w{10})</code>", opened.text)
    assert digest
    asked = {"digest": digest[1], "before": identity, "before_digest": digest[1]}
    assert client.get(f"/documents/{identity}/changes", params=asked).status_code == 404


def document(*texts: str) -> Document:
    blocks = tuple(Block(kind="text", text=text) for text in texts)
    return Document(id="d", source="s", uri="u", title="T", text="\n\n".join(texts), blocks=blocks)


def test_only_what_changed_and_its_neighbours_are_shown() -> None:
    same = [f"Paragraph {n} stays as it is." for n in range(9)]
    new = [*same[:4], "Paragraph 4 is something else altogether now, word for word.", *same[5:]]
    found = changes(document(*same), document(*new))
    assert [(block.kind, block.skipped) for block in found] == [
        ("same", 3),
        ("same", 0),
        ("added", 0),
        ("removed", 0),
        ("same", 0),
        ("same", 3),
    ]
    assert changes(document(*same), document(*same)) == [found[0]._replace(skipped=9)]


def test_words_are_compared_inside_a_paragraph() -> None:
    (block,) = changes(
        document("You have 25 days of leave a year."),
        document("You have 26 days of paid leave a year."),
    )
    assert block.kind == "rewritten"
    assert [(run.kind, run.text) for run in block.runs if run.kind != "same"] == [
        ("removed", "25"),
        ("added", "26"),
        ("added", " paid"),
    ]


def test_versions_that_are_forgotten_go_with_the_document(tmp_path: Path) -> None:
    with closing(make_workspace(tmp_path / "home")) as made:
        travel = next(one for one in library.documents(made, None) if "Travel" in one.title)
        assert len(library.versions(made, travel, Person())) == 1
        (made.home / "handbook/global/travel.md").write_text(NEW, encoding="utf-8")
        sync_all(made)
        newest, oldest = library.versions(made, travel, Person())
        assert oldest.document.digest == travel.digest
        assert newest.read >= oldest.read

"""Confluence as a source, against a site that keeps to the written contract and misbehaves when it
is told to."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.shelf import Shelf
from ombud.app import library
from ombud.documents import parse
from ombud.errors import SourceError
from ombud.ingest import sync_sources
from ombud.settings import Confluence
from ombud.sources import Ref, Source, open_source
from ombud.sources import client as http
from ombud.sources.confluence.access import NOBODY
from ombud.sources.confluence.source import ConfluenceSource
from ombud.sources.site import SiteClient
from ombud.types import Document, Person
from sources.confluence.site import TOKEN, USER, Attached, Reply, Wiki, WikiPage, standing


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that would have been waited; proxies of the machine are not for 127.0.0.1."""
    waited: list[float] = []
    monkeypatch.setattr(http, "sleep", waited.append)
    monkeypatch.setenv("CONFLUENCE_TOKEN", TOKEN)
    monkeypatch.setenv("NO_PROXY", "*")
    return waited


@pytest.fixture(params=["cloud", "data center"])
def cloud(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "cloud")


@pytest.fixture
def wiki(cloud: bool) -> Iterator[Wiki]:
    """Handbook (1) > Leave (2) > Sick leave (3), and Pay (4)."""
    pages = [
        WikiPage("1", "Handbook", "<p>Welcome.</p>"),
        WikiPage("2", "Leave", "<p>Twenty days.</p>", parent="1"),
        WikiPage("3", "Sick leave", "<p>Call in.</p>", parent="2"),
        WikiPage("4", "Pay", "<p>Monthly.</p>", parent="1"),
    ]
    with standing(Wiki(pages, cloud=cloud)) as site:
        yield site


def source(wiki: Wiki, **settings: Any) -> Source:
    user = USER if wiki.cloud else ""
    place = Confluence(name="hr", url=wiki.url, user=user, **{"spaces": ("HR",), **settings})
    return open_source(place, Path())


def listed(wiki: Wiki, **settings: Any) -> dict[str, Ref]:
    return {ref.uri: ref for ref in source(wiki, **settings).list()}


def audience(wiki: Wiki, page: str, **settings: Any) -> Any:
    return listed(wiki, **settings)[f"hr/HR/{page}.html"].facts["audience"]


def texts(wiki: Wiki, page: str, **settings: Any) -> list[str]:
    here = source(wiki, **settings)
    (ref,) = [ref for ref in here.list() if ref.uri == f"hr/HR/{page}.html"]
    document = Document(id="0" * 16, source="hr", uri=ref.uri, title="")
    return [block.text for block in parse(here.read(ref), document).blocks]


def failing(work: Any) -> SourceError:
    with pytest.raises(SourceError) as failed:
        work()
    assert TOKEN not in f"{failed.value} {failed.value.hint}"
    return failed.value


# What is listed -----------------------------------------------------------------------------------


def test_pages_are_listed_by_space_and_id(wiki: Wiki) -> None:
    refs = listed(wiki)
    assert list(refs) == [f"hr/HR/{number}.html" for number in (1, 2, 3, 4)]
    assert refs["hr/HR/2.html"].facts["title"] == "Leave"
    assert refs["hr/HR/2.html"].facts["url"].startswith(wiki.address)
    assert not any("body" in path for path, _ in wiki.asked if "/restriction/" not in path)


def test_a_page_is_read_as_html(wiki: Wiki) -> None:
    here = source(wiki)
    data = here.read(here.list()[1])
    assert data.decode() == (
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>Leave</title></head>'
        "<body><p>Twenty days.</p></body></html>\n"
    )


def test_a_page_without_words_is_its_title(wiki: Wiki) -> None:
    wiki.page("1").body = '<p><ac:structured-macro ac:name="children" /></p>'
    assert texts(wiki, "1") == ["Handbook"]


def test_lists_in_parts_are_read_to_their_end(wiki: Wiki) -> None:
    wiki.at_once = 1
    assert len(listed(wiki)) == 4


@pytest.mark.parametrize("place", ["header", "body"])
def test_either_link_leads_on(wiki: Wiki, place: str) -> None:
    wiki.at_once, wiki.next_in = 3, (place,) if wiki.cloud else ("body",)
    assert len(listed(wiki)) == 4


def test_a_list_that_leads_back_to_its_beginning_is_an_error(wiki: Wiki) -> None:
    wiki.at_once, wiki.circle = 2, True
    assert "round in circles" in str(failing(source(wiki).list))


def test_without_spaces_all_that_are_current_are_read(wiki: Wiki) -> None:
    wiki.spaces |= {"OLD": ("12", "archived"), "IT": ("13", "current")}
    wiki.pages += [WikiPage("5", "Past", space="OLD"), WikiPage("6", "Laptops", space="IT")]
    assert {uri.split("/")[1] for uri in listed(wiki, spaces=())} == {"HR", "IT"}
    assert {uri.split("/")[1] for uri in listed(wiki, spaces=(), archived=True)} == {
        "HR",
        "IT",
        "OLD",
    }
    assert list(listed(wiki, spaces=("OLD",))) == ["hr/OLD/5.html"]


def test_a_space_that_is_not_there_is_an_error(wiki: Wiki) -> None:
    failed = failing(source(wiki, spaces=("HR", "NO")).list)
    assert "`NO`" in str(failed)
    assert failed.hint


def test_an_account_that_sees_nothing_is_an_error(wiki: Wiki) -> None:
    wiki.spaces = {}
    assert "sees no space" in str(failing(source(wiki, spaces=()).list))


def test_deleted_and_archived_pages_are_not_listed(wiki: Wiki) -> None:
    wiki.page("3").status, wiki.page("4").status = "trashed", "archived"
    assert list(listed(wiki)) == ["hr/HR/1.html", "hr/HR/2.html"]
    if wiki.cloud:
        assert list(listed(wiki, archived=True)) == ["hr/HR/1.html", "hr/HR/2.html", "hr/HR/4.html"]


def test_a_renamed_and_moved_page_stays_the_same_document(wiki: Wiki) -> None:
    before = listed(wiki)["hr/HR/3.html"]
    page = wiki.page("3")
    page.title, page.parent, page.version = "Illness", "4", 2
    after = listed(wiki)["hr/HR/3.html"]
    assert after.facts["title"] == "Illness"
    assert after.version != before.version


def test_versions_change_with_the_page_and_with_nothing_else(wiki: Wiki) -> None:
    before = listed(wiki)
    wiki.page("2").version += 1
    wiki.page("4").groups = ("hr",)
    after = listed(wiki)
    assert all(ref.version for ref in before.values())
    assert [uri for uri in after if after[uri].version != before[uri].version] == ["hr/HR/2.html"]


def test_patterns_choose_and_describe(wiki: Wiki) -> None:
    refs = listed(
        wiki, exclude=("**/4.html",), country="GB", patterns={"HR/2.html": {"country": "IE"}}
    )
    assert list(refs) == ["hr/HR/1.html", "hr/HR/2.html", "hr/HR/3.html"]
    assert [ref.facts["countries"] for ref in refs.values()] == [("GB",), ("IE",), ("GB",)]


def test_labels_say_country_and_audience(wiki: Wiki) -> None:
    wiki.page("2").labels = ("uk", "managers", "unknown")
    wiki.page("3").labels = ("managers", "grade-a")
    labels = {
        "UK": {"country": "GB"},
        "managers": {"audience": {"roles": ["manager"]}},
        "grade-a": {"audience": {"grades": ["A"]}},
        "favourite": {"status": "withdrawn"},
    }
    refs = listed(wiki, labels=labels)
    assert refs["hr/HR/2.html"].facts["countries"] == ("GB",)
    assert refs["hr/HR/2.html"].facts["audience"] == {"roles": ("manager",)}
    assert refs["hr/HR/3.html"].facts["audience"] == {"roles": ("manager",), "grades": ("A",)}
    assert refs["hr/HR/4.html"].facts["audience"] == {}
    assert "status" not in refs["hr/HR/4.html"].facts


def test_labels_nobody_asks_about_are_not_asked_for(wiki: Wiki) -> None:
    listed(wiki)
    assert not wiki.paths("/labels")


def test_labels_that_mean_nothing_are_an_error_at_once(wiki: Wiki) -> None:
    assert "label `uk`" in str(failing(lambda: source(wiki, labels={"uk": {"county": "GB"}})))


# Who may read -------------------------------------------------------------------------------------


def test_restrictions_of_every_page_above_count(wiki: Wiki) -> None:
    wiki.page("1").groups = ("staff", "hr")
    wiki.page("3").groups, wiki.page("3").users = ("hr",), ("ann",)
    assert audience(wiki, "1") == audience(wiki, "2") == {"groups": ("hr", "staff")}
    assert audience(wiki, "3") == {"groups": ("hr",)}
    assert audience(wiki, "3", groups={"hr": "people"}) == {"groups": ("people",)}


def test_changed_restrictions_are_seen_without_a_new_version(wiki: Wiki) -> None:
    assert audience(wiki, "2") == {}
    wiki.page("1").groups = ("hr",)
    assert audience(wiki, "2") == {"groups": ("hr",)}
    wiki.page("2").parent = ""
    assert audience(wiki, "2") == {}


def test_restrictions_narrow_what_the_settings_say(wiki: Wiki) -> None:
    wiki.page("2").groups = ("hr",)
    roles = {"roles": ("manager",)}
    assert audience(wiki, "2", audience=roles) == {"roles": ("manager",), "groups": ("hr",)}
    assert audience(wiki, "4", audience=roles) == roles
    assert audience(wiki, "2", audience={"groups": ("it",)}) == NOBODY


@pytest.mark.parametrize("hidden", ["1", "2", "3"])
def test_a_page_whose_restrictions_are_hidden_fails_and_is_nobodys(wiki: Wiki, hidden: str) -> None:
    wiki.page("3").files = (Attached("a.pdf", b"%PDF"),)
    wiki.page(hidden).hidden = frozenset({"restriction"})
    here = source(wiki)
    refs = {ref.uri: ref for ref in here.list()}
    assert refs["hr/HR/3.html"].facts["audience"] == NOBODY
    assert refs["hr/HR/3.html"].version == ""
    assert refs["hr/HR/3.html"].name == f"HR/{wiki.page('3').title}"
    assert "hr/HR/3/a.pdf" not in refs
    failed = failing(lambda: here.read(refs["hr/HR/3.html"]))
    assert "Who may read it is not known" in str(failed)
    assert failed.hint
    if hidden != "1":
        assert here.read(refs["hr/HR/4.html"])


def test_hidden_labels_are_no_reason_to_forget_them(wiki: Wiki) -> None:
    wiki.page("2").labels, wiki.page("2").hidden = ("managers",), frozenset({"labels"})
    labels = {"managers": {"audience": {"roles": ["manager"]}}}
    if wiki.cloud:
        assert audience(wiki, "2", labels=labels) == NOBODY
    else:
        assert audience(wiki, "2", labels=labels) == {"roles": ("manager",)}


def test_restrictions_that_fail_for_now_stop_the_list(wiki: Wiki) -> None:
    wiki.replies = [Reply("/content/2/restriction", 503, times=99)]
    assert "503" in str(failing(source(wiki).list))


@pytest.mark.parametrize("cloud", [True], indirect=False)
def test_folders_between_pages_restrict_too(cloud: bool) -> None:
    pages = [
        WikiPage("1", "Secret", groups=("board",)),
        WikiPage("8", "Folder", kind="folder", parent="1", groups=("board", "hr")),
        WikiPage("2", "Plans", parent="8"),
        WikiPage("9", "Hidden", kind="whiteboard", hidden=frozenset({"page"})),
        WikiPage("3", "Sketch", parent="9"),
    ]
    with standing(Wiki(pages)) as wiki:
        assert audience(wiki, "2") == {"groups": ("board",)}
        assert audience(wiki, "3") == NOBODY


def test_a_moved_folder_is_looked_at_anew() -> None:
    folder = WikiPage("8", "Folder", kind="folder")
    pages = [WikiPage("1", "Secret", groups=("board",)), folder, WikiPage("2", "Plans", parent="8")]
    with standing(Wiki(pages)) as wiki:
        here = source(wiki)
        assert here.list()[1].facts["audience"] == {}
        folder.parent = "1"
        assert here.list()[1].facts["audience"] == {"groups": ("board",)}


def test_archived_pages_above_restrict_too() -> None:
    pages = [
        WikiPage("1", "Old", status="archived", groups=("board",)),
        WikiPage("2", "New", parent="1"),
    ]
    with standing(Wiki(pages)) as wiki:
        assert list(listed(wiki)) == ["hr/HR/2.html"]
        assert audience(wiki, "2") == {"groups": ("board",)}


def test_pages_that_lie_in_each_other_are_nobodys() -> None:
    pages = [WikiPage("1", "Hen", parent="2"), WikiPage("2", "Egg", parent="1")]
    with standing(Wiki(pages)) as wiki:
        assert audience(wiki, "1") == NOBODY


# Text of other pages ------------------------------------------------------------------------------


def showing(title: str) -> str:
    link = f'<ac:link><ri:page ri:content-title="{title}"/></ac:link>'
    parameter = f'<ac:parameter ac:name="">{link}</ac:parameter>'
    return f'<ac:structured-macro ac:name="include">{parameter}</ac:structured-macro>'


def test_included_pages_are_part_of_the_page(wiki: Wiki) -> None:
    wiki.page("4").body = f"<p>Pay.</p>{showing('Leave')}{showing('Nowhere')}"
    assert texts(wiki, "4") == ["Pay.", "Twenty days.", "Included page: Nowhere"]


def test_a_page_that_shows_others_is_always_read(wiki: Wiki) -> None:
    wiki.page("4").body = showing("Leave")
    assert [uri for uri, ref in listed(wiki).items() if not ref.version] == ["hr/HR/4.html"]


def test_where_searching_is_not_allowed_every_page_is_read(wiki: Wiki) -> None:
    wiki.replies = [Reply("/content/search", 403)]
    assert not any(ref.version for ref in listed(wiki).values())


def test_pages_that_include_each_other_end(wiki: Wiki) -> None:
    wiki.page("2").body, wiki.page("4").body = (
        f"<p>Two.</p>{showing('Pay')}",
        f"<p>Four.</p>{showing('Leave')}",
    )
    assert texts(wiki, "4") == ["Four.", "Two.", "Included page: Pay"]


def test_a_page_that_shows_too_many_ends(wiki: Wiki) -> None:
    wiki.page("4").body = showing("Leave") * 300
    shown = texts(wiki, "4")
    assert (shown.count("Twenty days."), shown.count("Included page: Leave")) == (100, 200)


def test_what_not_every_reader_may_see_is_not_included(wiki: Wiki) -> None:
    wiki.page("2").groups = ("hr",)
    wiki.page("4").body = showing("Leave")
    assert texts(wiki, "4") == ["Included page: Leave"]
    wiki.page("4").groups = ("hr",)
    assert texts(wiki, "4") == ["Twenty days."]
    wiki.page("4").groups = ("hr", "staff")
    assert texts(wiki, "4") == ["Included page: Leave"]


def test_a_page_whose_restrictions_are_hidden_is_not_included(wiki: Wiki) -> None:
    wiki.page("2").hidden = frozenset({"restriction"})
    wiki.page("4").body = showing("Leave")
    assert texts(wiki, "4") == ["Included page: Leave"]


def test_people_are_named_where_their_name_is_shown(wiki: Wiki) -> None:
    key = "account-id" if wiki.cloud else "userkey"
    wiki.people = {"5b10": "Jane Doe"}
    links = "".join(
        f'<ac:link><ri:user ri:{key}="{person}"/></ac:link> ' for person in ("5b10", "gone", "5b10")
    )
    wiki.page("4").body = f"<p>Ask {links}</p>"
    assert texts(wiki, "4") == ["Ask @Jane Doe @gone @Jane Doe"]
    assert len(wiki.paths("/rest/api/user?")) == 2


# Attachments --------------------------------------------------------------------------------------


def test_documents_attached_to_a_page_are_listed_with_its_facts(wiki: Wiki) -> None:
    page = wiki.page("2")
    page.groups, page.labels = ("hr",), ("uk",)
    page.files = (
        Attached("Leave form 2.PDF", b"%PDF-1.7", "a1", 3),
        Attached("logo.png", b"x", "a2"),
        Attached("old.docx", b"x", "a3", status="archived"),
        Attached("../a/b.txt", b"x", "a4"),
    )
    refs = listed(wiki, labels={"uk": {"country": "GB"}})
    assert [uri for uri in refs if uri.startswith("hr/HR/2/")] == [
        "hr/HR/2/Leave form 2.PDF",
        "hr/HR/2/.._a_b.txt",
    ]
    form = refs["hr/HR/2/Leave form 2.PDF"]
    assert form.facts["audience"] == {"groups": ("hr",)}
    assert form.facts["countries"] == ("GB",)
    assert "title" not in form.facts
    assert form.size == 8
    assert form.version.startswith("a1.3")
    assert not [uri for uri in listed(wiki, attachments=False) if uri.startswith("hr/HR/2/")]


def test_attachments_that_are_not_read_are_named(wiki: Wiki) -> None:
    wiki.page("2").files = (Attached("plan.vsdx", b"x", "a1"), Attached("form.pdf", b"x", "a2"))
    here = source(wiki)
    assert isinstance(here, ConfluenceSource)
    for _ in range(2):
        here.list()
        (left,) = here.left_out
        assert left.uri.endswith("/plan.vsdx")
        assert ".vsdx" in left.why


def test_a_file_of_any_name_is_fetched_and_read(wiki: Wiki) -> None:
    wiki.page("2").files = (Attached("Q&A #1 - 50% of what?.txt", b"Twenty days."),)
    here = source(wiki)
    (ref,) = [ref for ref in here.list() if ref.uri.endswith(".txt")]
    assert ref.uri == "hr/HR/2/Q&A #1 - 50% of what?.txt"
    known = Document(id="0" * 16, source="hr", uri=ref.uri, title="")
    found = parse(here.read(ref), known)
    assert (found.title, found.text) == ("Q&A #1 50% of what?", "Twenty days.")


def test_a_file_is_fetched_from_the_other_host_without_credentials(wiki: Wiki) -> None:
    wiki.page("2").files = (Attached("Form ä.pdf", b"%PDF-1.7 form"),)
    here = source(wiki)
    (ref,) = [ref for ref in here.list() if ref.uri.endswith(".pdf")]
    assert here.read(ref) == b"%PDF-1.7 form"
    (sent,) = [headers for path, headers in wiki.asked if path.startswith("/file/")]
    assert "authorization" not in sent
    assert "cookie" not in sent
    assert all(
        "authorization" in headers for path, headers in wiki.asked if not path.startswith("/file/")
    )
    assert not any("cookie" in headers for _, headers in wiki.asked)


def test_a_file_that_grew_too_large_is_refused(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    wiki.page("2").files = (Attached("a.pdf", b"x" * 5000),)
    here = source(wiki)
    (ref,) = [ref for ref in here.list() if ref.uri.endswith(".pdf")]
    client = here._opened._client  # type: ignore[attr-defined]
    whole = client.get
    monkeypatch.setattr(
        client, "get", lambda url, **options: whole(url, **options | {"largest": 1000})
    )
    failed = failing(lambda: here.read(ref))
    assert "larger than" in str(failed)
    assert "signed" not in str(failed)


def test_a_file_or_page_that_is_gone_fails_alone(wiki: Wiki) -> None:
    wiki.page("2").files = (Attached("a.pdf", b"x"),)
    here = source(wiki)
    refs = {ref.uri: ref for ref in here.list()}
    wiki.page("2").files, wiki.page("4").status = (), "trashed"
    assert "not there any more" in str(failing(lambda: here.read(refs["hr/HR/2/a.pdf"])))
    assert "not there any more" in str(failing(lambda: here.read(refs["hr/HR/4.html"])))
    assert here.read(refs["hr/HR/1.html"])


def test_a_page_changed_after_its_restrictions_were_read_waits(wiki: Wiki) -> None:
    here = source(wiki)
    refs = here.list()
    wiki.page("1").version += 1
    assert "changed while" in str(failing(lambda: here.read(refs[0])))


@pytest.mark.parametrize("blank", [b"", b"\n"])
def test_the_head_of_a_file_does_not_undo_a_restriction(
    wiki: Wiki, tmp_path: Path, blank: bytes
) -> None:
    head = blank + b"---\naudience: {}\n---\nText.\n"
    wiki.page("2").groups = ("hr",)
    wiki.page("2").files = (Attached("a.md", head, "a1"),)
    wiki.page("4").files = (Attached("b.mdx", head, "b1"),)
    workspace = Shelf(tmp_path).workspace
    sync_sources(workspace.ingest, [source(wiki)])

    def seen_by(*groups: str) -> set[str]:
        documents = library.documents(workspace, Person(groups=groups))
        return {document.uri for document in documents}

    assert "hr/HR/2/a.md" not in seen_by()
    assert "hr/HR/2/a.md" in seen_by("hr")
    assert "hr/HR/4/b.mdx" in seen_by()


def test_attachments_that_may_not_be_listed_are_no_reason_to_delete_them(wiki: Wiki) -> None:
    wiki.replies = [Reply("attachment", 403)]
    assert "may not read" in str(failing(source(wiki).list))


# Trouble ------------------------------------------------------------------------------------------


def test_a_busy_site_is_waited_for(wiki: Wiki, waits: list[float]) -> None:
    wiki.replies = [Reply("space", 429, headers={"retry-after": "7"}), Reply("space", 503)]
    assert len(listed(wiki)) == 4
    assert waits == [7.0, 14.0]


def test_a_site_that_wants_hours_is_left_alone(wiki: Wiki, waits: list[float]) -> None:
    wiki.replies = [Reply("space", 429, headers={"retry-after": "7200"})]
    assert "7200 seconds" in str(failing(source(wiki).list))
    assert waits == []


def test_retry_after_may_be_a_date_or_nonsense(wiki: Wiki, waits: list[float]) -> None:
    past, odd = "Wed, 21 Oct 2015 07:28:00 GMT", "soon"
    wiki.replies = [Reply("space", 429, headers={"retry-after": value}) for value in (past, odd)]
    assert len(listed(wiki)) == 4
    assert waits == [1.0, 2.0]


def test_broken_connections_are_tried_again(wiki: Wiki) -> None:
    wiki.replies = [
        Reply("space", hang_up=True),
        Reply("restriction", body=b"{}", headers={"content-length": "99"}),
    ]
    assert len(listed(wiki)) == 4


def test_a_site_that_stays_down_is_an_error(wiki: Wiki, waits: list[float]) -> None:
    wiki.replies = [Reply("space", hang_up=True, times=99)]
    failed = failing(source(wiki).list)
    assert "cannot be read" in str(failed)
    assert failed.hint
    assert len(waits) == SiteClient.POLICY.tries - 1


@pytest.mark.parametrize(
    "body", [b'{"results": [', b"<html>Log in</html>", b"[]", b'{"results": [1]}', b"\xff"]
)
@pytest.mark.parametrize("path", ["space", "page", "restriction", "attachment"])
def test_half_an_answer_is_an_error_not_half_a_list(wiki: Wiki, path: str, body: bytes) -> None:
    path = "/rest/api/content?" if path == "page" and not wiki.cloud else path
    wiki.replies = [Reply(path, body=body, headers={"content-type": "application/json"})]
    here = source(wiki)
    if path == "restriction" and body in {b"[]", b'{"results": [1]}'}:
        assert sum(ref.facts["audience"] == NOBODY for ref in here.list()) >= 1
    else:
        assert failing(here.list)


def test_a_wrong_token_names_the_variable(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "wrong-token")
    failed = failing(source(wiki, token_env="MY_TOKEN").list)
    assert "does not accept" in str(failed)
    assert "MY_TOKEN" in failed.hint
    assert "wrong-token" not in f"{failed}{failed.hint}"


@pytest.mark.parametrize("token", ["", "  ", "two words", "b\u00e4d", "line\nbreak"])
def test_a_missing_or_impossible_token_names_the_variable(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("CONFLUENCE_TOKEN", token)
    failed = failing(source(wiki).list)
    assert "CONFLUENCE_TOKEN" in f"{failed}{failed.hint}"
    assert not wiki.asked


def test_redirects_to_another_host_carry_no_credentials_not_even_back(wiki: Wiki) -> None:
    away = {"location": f"{wiki.elsewhere}/file/x"}
    wiki.replies = [Reply("space", 302, headers=away)]
    failed = failing(source(wiki).list)
    assert "localhost" in str(failed)
    (sent,) = [headers for path, headers in wiki.asked if path.startswith("/file/")]
    assert "authorization" not in sent


def test_redirects_at_home_keep_credentials_and_end(wiki: Wiki) -> None:
    wiki.replies = [Reply("/moved", 302, headers={"location": "/moved"}, times=99)]
    wiki.replies += [Reply("space", 307, headers={"location": "/moved"})]
    assert "one address to the next" in str(failing(source(wiki).list))
    assert all("authorization" in headers for _, headers in wiki.asked)


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "http://[", "ftp://127.0.0.1/x", "http://u:p@127.0.0.1/"]
)
def test_redirects_to_what_is_no_address_are_not_followed(wiki: Wiki, location: str) -> None:
    wiki.replies = [Reply("space", 302, headers={"location": location})]
    assert failing(source(wiki).list)


def test_a_list_does_not_continue_on_another_host(wiki: Wiki) -> None:
    body = b'{"results": [], "_links": {"next": "http://127.0.0.1:9/x"}}'
    wiki.replies = [Reply("space", body=body)]
    assert "another host" in str(failing(source(wiki).list))


@pytest.mark.parametrize(
    "url", ["", "example.com", "ftp://example.com", "https://", "http://[", "https://e.com/?a=b"]
)
def test_an_address_that_is_none_is_an_error(url: str) -> None:
    failed = failing(lambda: open_source(Confluence(name="hr", url=url), Path()))
    assert "no address" in str(failed)


def test_an_address_holds_no_password() -> None:
    failed = failing(
        lambda: open_source(Confluence(name="hr", url="https://u:pass-9@example.com"), Path())
    )
    assert "pass-9" not in f"{failed}{failed.hint}"


def test_cloud_needs_a_user() -> None:
    failed = failing(
        lambda: open_source(Confluence(name="hr", url="https://example.atlassian.net/wiki"), Path())
    )
    assert "mail address" in str(failed)


def test_cloud_is_found_with_and_without_wiki_in_its_address() -> None:
    with standing(Wiki([WikiPage("1", "A")], at_once=1)) as wiki:
        place = Confluence(name="hr", url=f"{wiki.address}/wiki/", user=USER, spaces=("HR",))
        assert [ref.uri for ref in open_source(place, Path()).list()] == ["hr/HR/1.html"]

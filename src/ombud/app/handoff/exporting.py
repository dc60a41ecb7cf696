"""A conversation as Markdown, to save or pass on: questions, answers with sources, advisors'
messages."""

from collections.abc import Iterable

from ombud.answer import as_markdown
from ombud.app import asking
from ombud.app.workspace import Workspace
from ombud.errors import NotFound
from ombud.messages import message
from ombud.store import read_events
from ombud.types import Answered, Citation, Ended, Event, Joined, Said


def markdown_of(workspace: Workspace, conversation_id: str, title: str) -> str:
    """Export a conversation without the advisors' internal notes. Raises NotFound."""
    parts = [f"# {single_line(title) if title else message('notices.conversation')}"]
    for event in read_events(workspace.store, conversation_id):
        part = event_markdown(workspace, event)
        if part:
            parts.append(part)
    notice = workspace.settings.answer.notice
    if notice is None:
        notice = message("chat.notice")
    if notice:
        parts.append(f"*{single_line(notice)}*")
    return "\n\n".join(parts) + "\n"


def event_markdown(workspace: Workspace, event: Event) -> str:
    what = event.what
    if isinstance(what, Answered):
        return answer_markdown(workspace, what)
    if isinstance(what, Joined):
        return f"*{message('notices.joined', name=single_line(what.name))}*"
    if isinstance(what, Ended):
        return f"*{message('notices.person_ended')}*"
    if not isinstance(what, Said) or event.by == "assistant":
        return ""
    if event.by == "user":
        return f"## {single_line(what.text)}"
    return "\n".join(f"> {line}" for line in event.text.splitlines())


def answer_markdown(workspace: Workspace, what: Answered) -> str:
    try:
        answer = asking.stored_answer(workspace, what.answer_id) if what.answer_id else None
    except NotFound:
        answer = None
    listed = source_lines(answer.citations) if answer else ""
    return f"{what.text}\n\n{listed}" if listed else what.text


def source_lines(citations: Iterable[Citation]) -> str:
    lines: list[str] = []
    for number, citation in enumerate(citations, start=1):
        title = citation.title
        if citation.page:
            title = message("notices.title_page", title=title, page=citation.page)
        quote = as_markdown(citation.quote, citation.start, citation.annotations)
        quoted = message("notices.quoted", quote=single_line(quote))
        lines.append(f"{number}. {title} ({citation.uri}): {quoted}")
    return "\n".join(lines)


def single_line(text: str) -> str:
    return " ".join(text.split())

"""A conversation as Markdown, to keep or to hand on: questions, answers with their sources, what an
advisor wrote."""

from collections.abc import Iterable

from ombud.answer import as_markdown
from ombud.app import asking
from ombud.app.workspace import Workspace
from ombud.errors import NotFound
from ombud.store import read_events
from ombud.types import Answered, Citation, Ended, Event, Joined, Said


def markdown_of(workspace: Workspace, conversation_id: str, title: str) -> str:
    """Without what advisors note for each other. Raises NotFound."""
    parts = [f"# {_line(title)}" if title else "# Conversation"]
    for event in read_events(workspace.store, conversation_id):
        part = _part(workspace, event)
        if part:
            parts.append(part)
    notice = workspace.settings.answer.notice
    if notice:
        parts.append(f"*{_line(notice)}*")
    return "\n\n".join(parts) + "\n"


def _part(workspace: Workspace, event: Event) -> str:
    what = event.what
    if isinstance(what, Answered):
        return _answered(workspace, what)
    if isinstance(what, Joined):
        return f"*{_line(what.name)} joined.*"
    if isinstance(what, Ended):
        return "*The conversation with a person ended.*"
    if not isinstance(what, Said) or event.by == "assistant":
        return ""
    if event.by == "user":
        return f"## {_line(what.text)}"
    return "\n".join(f"> {line}" for line in event.text.splitlines())


def _answered(workspace: Workspace, what: Answered) -> str:
    try:
        answer = asking.stored_answer(workspace, what.answer_id) if what.answer_id else None
    except NotFound:
        answer = None
    listed = _sources(answer.citations) if answer else ""
    return f"{what.text}\n\n{listed}" if listed else what.text


def _sources(citations: Iterable[Citation]) -> str:
    lines: list[str] = []
    for number, citation in enumerate(citations, start=1):
        page = f", page {citation.page}" if citation.page else ""
        quote = as_markdown(citation.quote, citation.start, citation.annotations)
        lines.append(f"{number}. {citation.title}{page} ({citation.uri}): “{_line(quote)}”")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())

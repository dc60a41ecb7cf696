"""The title of a draft before it is indexed."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from ombud.app.workspace import Workspace
from ombud.documents import open_parsers
from ombud.types import Document


def title_of(workspace: Workspace, name: str, data: bytes, metadata: Mapping[str, Any]) -> str:
    """Return the title of its metadata, else of its text. Raises SourceError if it cannot be
    parsed."""
    if metadata.get("title"):
        return str(metadata["title"])
    settings = workspace.settings.documents
    one = settings.model_copy(update={"processes": min(1, settings.processes)})
    blank = Document(id="", source="", uri=name, title="", language="")
    with ExitStack() as stack:
        (parser,) = open_parsers(one)
        stack.callback(parser.close)
        return parser.parse(data, blank).title

"""What `ombud doctor` looks at: each check says what is, and what to do where it is not right."""

import os
import shutil
from collections.abc import Iterator
from typing import NamedTuple

from ombud.app.workspace import Workspace
from ombud.errors import OmbudError
from ombud.store import list_documents, list_sources

ROOM = 1 << 30


class Check(NamedTuple):
    name: str
    ok: bool
    said: str
    hint: str = ""


def check_all(workspace: Workspace) -> Iterator[Check]:
    """Check after check, as they are done; nothing is changed and no model is called."""
    yield Check("workspace", True, str(workspace.home))
    yield _space(workspace)
    for name, look in (
        ("store", _store),
        ("embedder", _embedder),
        ("index", _index),
        ("chat model", _chat),
        ("sources", _sources),
    ):
        try:
            yield look(workspace)
        except OmbudError as failed:
            yield Check(name, False, str(failed), failed.hint)


def _space(workspace: Workspace) -> Check:
    folder = workspace.data if workspace.data.exists() else workspace.home
    if not os.access(folder, os.W_OK):
        return Check("disk", False, f"{folder} cannot be written.", "Check its permissions.")
    free = shutil.disk_usage(folder).free
    return Check("disk", free > ROOM, f"{free / 2**30:.1f} GiB free", "" if free > ROOM else "Free some space.")


def _store(workspace: Workspace) -> Check:
    count = len(list_documents(workspace.store))
    where = workspace.settings.store.url.split("@")[-1] or "SQLite in .ombud"
    return Check("store", True, f"{where}, {count} documents")


def _embedder(workspace: Workspace) -> Check:
    embedder = workspace.embedder
    if workspace.missing_model:
        return Check(
            "embedder", False, f"{workspace.missing_model} Search is by words only.", workspace.missing_model.hint
        )
    if embedder is None:
        return Check("embedder", True, "none: search is by words only", "Set models.embedder to find paraphrases too.")
    reads = ", ".join(sorted(embedder.languages)) if embedder.languages else "all languages"
    return Check("embedder", True, f"{embedder.fingerprint} ({embedder.dimension} dimensions, reads {reads})")


def _index(workspace: Workspace) -> Check:
    chunks = sum(workspace.engine.documents().values())  # reads rows, not only the count that stands beside them
    languages = ", ".join(sorted(workspace.engine.languages())) or "no language yet"
    hint = "" if chunks else "Run `ombud sync FOLDER`."
    return Check("index", bool(chunks), f"{chunks} passages ({languages})", hint)


def _chat(workspace: Workspace) -> Check:
    chat = workspace.chat
    if chat is None:
        return Check("chat model", True, "none: answers are quotes", "Set models.chat to have answers written.")
    return Check("chat model", True, chat.name)


def _sources(workspace: Workspace) -> Check:
    names = [s.name for s in workspace.settings.source] + [r.name for r in list_sources(workspace.store)]
    hint = "" if names else "Add [[source]] to ombud.toml or run `ombud sync FOLDER`."
    return Check("sources", bool(names), ", ".join(names) or "none", hint)

"""Identifies what answers in a workspace, for the lab and auditors."""

from hashlib import sha256
from importlib.metadata import version
from typing import Any

from ombud.app.setup import named_files, setup_text
from ombud.app.workspace import Workspace
from ombud.prompts import digests as prompt_digests
from ombud.settings import FLAGS, plan_for
from ombud.types import Person


def describe(workspace: Workspace) -> dict[str, Any]:
    """Return version, plan, prompts and models, and one digest of all settings and files behind
    them."""
    settings = workspace.flagged
    return {
        "version": version("ombud"),
        "config_digest": config_digest(workspace),
        "plan": plan_for(settings, Person()).plan.model_dump(mode="json"),
        "prompts": prompt_digests(workspace.prompts),
        "models": {
            "embedder": workspace.engine.fingerprint or "none",
            "chat": settings.models.chat or "none",
        },
        "index_version": workspace.engine.version(),
    }


def setup(workspace: Workspace) -> str:
    """Return the setup as JSON that stays the same until something changes; it is stored with every
    answer."""
    return setup_text(
        workspace.home, workspace.flagged, workspace.prompts, workspace.engine.fingerprint
    )


def config_digest(workspace: Workspace) -> str:
    settings = workspace.flagged
    config = settings.model_dump_json(include={"index", "models", "answer", *FLAGS})
    digest = sha256(config.encode())
    for path in named_files(workspace.home, settings):
        digest.update(path.read_bytes() if path.is_file() else b"")
    for persona in workspace.personas.values():
        digest.update(persona.model_dump_json().encode())
    return digest.hexdigest()[:16]

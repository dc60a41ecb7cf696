"""The setup behind an answer, for auditors to compare: settings, files, prompts and models."""

import json
import re
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from ombud.masking import mask_values
from ombud.prompts import digests as prompt_digests
from ombud.settings import FLAGS, Settings

SECTIONS = ("general", "index", "models", "answer", *FLAGS)
"""Sections of the settings that affect answers."""
USERINFO = re.compile(r"(?<=://)[^/@\s\"]+@")


def named_files(home: Path, settings: Settings) -> list[Path]:
    """Return the files of the workspace that answers depend on."""
    answer = settings.answer
    named = (answer.glossary, answer.contacts, answer.sensitive_terms)
    return [home / name for name in named if name]


def setup_text(home: Path, settings: Settings, prompts: Path, embedder: str) -> str:
    """Return canonical JSON without passwords and without user names in addresses."""
    files: dict[str, str] = {}
    for path in named_files(home, settings):
        if path.is_file():
            files[path.name] = sha256(path.read_bytes()).hexdigest()
    sections = settings.model_dump(mode="json", include=set(SECTIONS))
    content = {
        "version": version("ombud"),
        "settings": mask_values(sections),
        "files": files,
        "prompts": prompt_digests(prompts),
        "embedder": embedder or "none",
    }
    return USERINFO.sub("", json.dumps(content, sort_keys=True, separators=(",", ":")))

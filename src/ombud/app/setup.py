"""What answers: the settings, files, prompts and models behind an answer, so that an auditor can
compare them."""

import json
import re
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from ombud.masking import mask_values
from ombud.prompts import digests as prompt_digests
from ombud.settings import FLAGS, Settings

SECTIONS = ("general", "index", "models", "answer", *FLAGS)
"""Those that decide what is answered."""
USERINFO = re.compile(r"(?<=://)[^/@\s\"]+@")


def named_files(home: Path, settings: Settings) -> list[Path]:
    """Files of the workspace that answers depend on."""
    answer = settings.answer
    named = (answer.glossary, answer.contacts, answer.sensitive_terms)
    return [home / name for name in named if name]


@cache
def _own_version() -> str:
    return version("ombud")


def setup_text(home: Path, settings: Settings, prompts: Path, embedder: str) -> str:
    """Canonical JSON without passwords; of an address also the name before the @ is left out."""
    files: dict[str, str] = {}
    for path in named_files(home, settings):
        if path.is_file():
            files[path.name] = sha256(path.read_bytes()).hexdigest()
    sections = settings.model_dump(mode="json", include=set(SECTIONS))
    told = {
        "version": _own_version(),
        "settings": mask_values(sections),
        "files": files,
        "prompts": prompt_digests(prompts),
        "embedder": embedder or "none",
    }
    return USERINFO.sub("", json.dumps(told, sort_keys=True, separators=(",", ":")))

"""The words we say to models: one folder per task, one .txt per model variant."""

from hashlib import sha256
from pathlib import Path
from string import Template
from typing import NamedTuple

from ombud.errors import UnknownName

HERE = Path(__file__).parent


class Prompt(NamedTuple):
    name: str
    """Such as `compose/gpt-4.1`."""
    text: str

    @property
    def digest(self) -> str:
        """First 12 hex digits of the text's sha256; what a trace records."""
        return sha256(self.text.encode()).hexdigest()[:12]

    def fill(self, **values: str) -> str:
        """Put the values in; a missing one raises KeyError. Values are never read as templates."""
        return Template(self.text).substitute(values)


def load(task: str, model: str = "", override: Path | None = None) -> Prompt:
    """Most specific file wins: `gpt-4.1-mini`, then `gpt-4.1`, then `gpt`, then `default`.

    model may carry its provider (`openai:gpt-4.1`), which plays no part. override is a folder looked at first.
    """
    words = (model.partition(":")[2] or model).replace("/", "-").replace(":", "-").split("-")
    stems = ["-".join(words[:end]) for end in range(len(words), 0, -1) if words[0]] + ["default"]
    for folder in filter(None, (override, HERE)):
        for stem in stems:
            path = folder / task / f"{stem}.txt"
            if path.is_file():
                return Prompt(f"{task}/{stem}", path.read_text(encoding="utf-8"))
    tasks = sorted(p.name for p in HERE.iterdir() if p.is_dir() and not p.name.startswith("_"))
    raise UnknownName(f"No prompt is called `{task}`.", hint=f"Known: {', '.join(tasks)}.")


def digests() -> dict[str, str]:
    """Prompt -> digest of every prompt that ships."""
    found = sorted(HERE.glob("*/*.txt"))
    prompts = [Prompt(f"{path.parent.name}/{path.stem}", path.read_text(encoding="utf-8")) for path in found]
    return {prompt.name: prompt.digest for prompt in prompts}

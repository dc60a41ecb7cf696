"""The words we say to models: one folder per task, one .txt per model variant; a workspace may have
its own."""

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import NamedTuple

from ombud.errors import UnknownName
from ombud.prompts.sections import layered, split

HERE = Path(__file__).parent


class Prompt(NamedTuple):
    name: str
    """Such as `compose/gpt-4.1`."""
    text: str
    note: str = ""
    """Which file of the workspace should have been taken, and why it was not."""

    @property
    def digest(self) -> str:
        """First 12 hex digits of the text's sha256; what a trace records."""
        return sha256(self.text.encode()).hexdigest()[:12]

    def fill(self, **values: str) -> str:
        """Put the values in; a missing one raises KeyError. Values are never read as templates."""
        return Template(self.text).substitute(values)


def load(task: str, model: str = "", override: Path | None = None) -> Prompt:
    """Load the most specific file: `gpt-4.1-mini`, then `gpt-4.1`, then `gpt`, then `default`.
    Files are read anew each time.

    model may carry its provider (`openai:gpt-4.1`), which plays no part, and its maker
    (`meta-llama/Llama-3.1-8B`). override is a folder looked at first, such as `prompts/` of a
    workspace; a file there that cannot be used is passed over, and the prompt's `note` says so."""
    return next(_files_for(task, model, override))


class Sections(NamedTuple):
    """A prompt in named parts. words: section -> its text, `` where a file without sections is the
    whole of it."""

    words: dict[str, str]
    files: tuple[Prompt, ...]
    """Those that a section was taken from."""
    note: str
    """As that of a `Prompt`."""


def load_sections(task: str, model: str = "", override: Path | None = None) -> Sections:
    """Load a prompt section by section: each comes from the most specific file that has it."""
    files = list(_files_for(task, model, override))
    layers = layered([file.text for file in files])
    used = sorted({number for number, _ in layers.values()})
    sources: list[Prompt] = []
    for number in used:
        file = files[number]
        same_name = any(source.name == file.name for source in sources)
        name = f"{file.name} as shipped" if same_name else file.name
        sources.append(Prompt(name, file.text))
    weakest = files[used[-1]] if used else files[-1]
    words = {section: text for section, (_, text) in layers.items()}
    return Sections(words, tuple(sources), weakest.note)


def variants(task: str, override: Path | None = None) -> list[str]:
    """List the models that a task has its own prompts for, `default` among them."""
    files = list((HERE / task).glob("*.txt"))
    if override:
        files += (override / task).glob("*.txt")
    return sorted({path.stem for path in files})


def _files_for(task: str, model: str, override: Path | None) -> Iterator[Prompt]:
    """Yield every usable file, strongest first; the last one ships and is for all models."""
    if not (HERE / task / "default.txt").is_file():
        raise UnknownName(f"No prompt is called `{task}`.", hint=f"Known: {', '.join(_tasks())}.")
    stems = _stems(model)
    note = ""
    own: list[Path] = []
    if override:
        own = [override / task / f"{stem}.txt" for stem in stems]
    for path in own:
        prompt = _read(path, task)
        if prompt is None:
            continue
        if not prompt.why:
            yield Prompt(_name(path), prompt.text, note)
        elif not note:
            note = f"{_place(path)} is not used: {prompt.why}"
    for stem in stems:
        path = HERE / task / f"{stem}.txt"
        if path.is_file():
            yield Prompt(_name(path), path.read_text(encoding="utf-8"), note)


def _stems(model: str) -> list[str]:
    """Yield file names for a model, most specific first: the name without its maker, cut at each
    dash, then its family."""
    name = (model.partition(":")[2] or model).replace(":", "-")
    folded = name.casefold()
    without_maker = folded.rpartition("/")[2]
    stems: dict[str, None] = {}
    for variant in (name, folded, without_maker):
        words = variant.replace("/", "-").split("-")
        if not words[0]:
            continue
        for end in range(len(words), 0, -1):
            stems["-".join(words[:end])] = None
    # `Llama3.1`, `us.anthropic.claude-3`: one of the words is the family.
    for family in re.findall(r"[a-z]{3,}", folded):
        stems[family] = None
    stems["default"] = None
    return list(stems)


def tasks() -> list[str]:
    """List the tasks that models have prompts for."""
    return _tasks()


def shipped(name: str) -> str:
    """Return the text of a shipped prompt, such as `compose/gpt-4.1`; empty if there is none of
    that name."""
    task, _, variant = name.partition("/")
    path = HERE / task / f"{variant}.txt"
    return path.read_text(encoding="utf-8") if task in _tasks() and path.is_file() else ""


def why_not(text: str, task: str) -> str:
    """Explain why a text cannot be the prompt of a task; empty if it can."""
    return _wrong(text, task)


def digests(override: Path | None = None) -> dict[str, str]:
    """Map every prompt that can be sent to its digest: those that ship, overridden by those of a
    folder."""
    by_name = dict(_shipped_digests())
    if override and override.is_dir():
        for path, prompt in _all(override):
            if not prompt.why:
                by_name[_name(path)] = Prompt(_name(path), prompt.text).digest
    return dict(sorted(by_name.items()))


@cache
def _shipped_digests() -> Mapping[str, str]:
    """Cache the digests, which do not change while a process runs and are needed for every
    answer."""
    by_name: dict[str, str] = {}
    for path in _files(HERE):
        by_name[_name(path)] = Prompt(_name(path), path.read_text(encoding="utf-8")).digest
    return by_name


def problems(override: Path) -> list[str]:
    """List the unused files of a folder of prompts, with the reason; empty if all are used or the
    folder does not exist."""
    unused = []
    for path, prompt in _all(override):
        if prompt.why:
            unused.append(f"{_place(path)} is not used: {prompt.why}")
    return unused


class _Own(NamedTuple):
    """A prompt of the workspace; why: it cannot be used."""

    text: str
    why: str = ""


def _read(path: Path, task: str) -> _Own | None:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as wrong:
        return _Own("", f"it cannot be read ({wrong.strerror}).")
    except UnicodeDecodeError:
        return _Own("", "it is not UTF-8 text.")
    return _Own(text, _wrong(text, task))


def _wrong(text: str, task: str) -> str:
    """Why a text cannot be the prompt of a task. What the code fills in is what the shipped prompt
    has."""
    if task not in _tasks():
        return f"there is no task `{task}`. {_nearest(task, _tasks())}"
    if not text.strip():
        return "it is empty."
    if not Template(text).is_valid():
        return "a $ stands before no placeholder; write $$ for a dollar sign."
    shipped = []
    for path in (HERE / task).glob("*.txt"):
        shipped.append(path.read_text(encoding="utf-8"))
    return _odd_section(text, task, shipped) or _odd_placeholder(text, task, shipped)


def _odd_section(text: str, task: str, shipped: list[str]) -> str:
    sections: set[str] = set()
    for prompt in shipped:
        sections.update(split(prompt))
    if not sections:
        return ""
    for section in split(text):
        if section not in sections:
            hint = _nearest(section, sorted(sections))
            return f"`{task}` has no section [{section}]. {hint}"
    return ""


def _odd_placeholder(text: str, task: str, shipped: list[str]) -> str:
    placeholders: set[str] = set()
    for prompt in shipped:
        placeholders.update(Template(prompt).get_identifiers())
    for placeholder in Template(text).get_identifiers():
        if placeholder not in placeholders:
            hint = _nearest(placeholder, sorted(placeholders))
            return f"`{task}` has no placeholder ${placeholder}. {hint}"
    return ""


def _nearest(word: str, candidates: list[str]) -> str:
    near = difflib.get_close_matches(word, candidates, n=1, cutoff=0.5)
    return f"Did you mean `{near[0]}`?" if near else f"Known: {', '.join(candidates) or 'none'}."


def _tasks() -> list[str]:
    return sorted({path.parent.name for path in _files(HERE)})


def _all(folder: Path) -> Iterator[tuple[Path, _Own]]:
    for path in _files(folder):
        if prompt := _read(path, path.parent.name):
            yield path, prompt


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.txt"))


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def _place(path: Path) -> str:
    return "/".join(path.parts[-3:])

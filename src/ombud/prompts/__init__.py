"""The words we say to models: one folder per task, one .txt per model variant; a workspace may have
its own."""

import difflib
import re
from collections.abc import Iterator
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
    """Most specific file wins: `gpt-4.1-mini`, then `gpt-4.1`, then `gpt`, then `default`. Read
    anew each time.

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
    """What `load` finds, section by section: what the most specific file leaves out stands in the
    next one."""
    files = list(_files_for(task, model, override))
    found = layered([file.text for file in files])
    used = sorted({number for number, _ in found.values()})
    known: set[str] = set()
    named: list[Prompt] = []
    for file in (files[number] for number in used):
        named.append(
            Prompt(f"{file.name} as shipped" if file.name in known else file.name, file.text)
        )
        known.add(file.name)
    note = files[used[-1]].note if used else files[-1].note
    return Sections({part: words for part, (_, words) in found.items()}, tuple(named), note)


def variants(task: str, override: Path | None = None) -> list[str]:
    """The models that a task has words of their own for, `default` among them."""
    folders = [HERE / task, *([override / task] if override else [])]
    return sorted({path.stem for folder in folders for path in folder.glob("*.txt")})


def _files_for(task: str, model: str, override: Path | None) -> Iterator[Prompt]:
    """Every file that can be used, strongest first; the last one ships and is for all models."""
    if not (HERE / task / "default.txt").is_file():
        raise UnknownName(f"No prompt is called `{task}`.", hint=f"Known: {', '.join(_tasks())}.")
    stems = _stems(model)
    passed_over = ""
    for path in [override / task / f"{stem}.txt" for stem in stems] if override else []:
        if found := _read(path, task):
            if not found.why:
                yield Prompt(_name(path), found.text, passed_over)
            passed_over = passed_over or (
                f"{_place(path)} is not used: {found.why}" if found.why else ""
            )
    for path in [path for stem in stems if (path := HERE / task / f"{stem}.txt").is_file()]:
        yield Prompt(_name(path), path.read_text(encoding="utf-8"), passed_over)


def _stems(model: str) -> list[str]:
    """File names for a model, most specific first: the name cut at each dash, without its maker,
    then its family."""
    name = (model.partition(":")[2] or model).replace(":", "-")
    stems: list[str] = []
    for said in dict.fromkeys((name, name.casefold(), name.rpartition("/")[2].casefold())):
        words = said.replace("/", "-").split("-")
        stems += ["-".join(words[:end]) for end in range(len(words), 0, -1) if words[0]]
    # `Llama3.1`, `us.anthropic.claude-3`: one of the words is the family.
    stems += re.findall(r"[a-z]{3,}", name.casefold())
    return list(dict.fromkeys([*stems, "default"]))


def digests(override: Path | None = None) -> dict[str, str]:
    """Prompt -> digest of every prompt that can be sent: those that ship, and over them those of a
    folder."""
    texts = {_name(path): path.read_text(encoding="utf-8") for path in _files(HERE)}
    if override:
        texts |= {_name(path): found.text for path, found in _all(override) if not found.why}
    return {name: Prompt(name, text).digest for name, text in sorted(texts.items())}


def problems(override: Path) -> list[str]:
    """What of a folder of prompts is not used, and why; empty when all is, or when there is no such
    folder."""
    return [
        f"{_place(path)} is not used: {found.why}" for path, found in _all(override) if found.why
    ]


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
    texts = [path.read_text(encoding="utf-8") for path in (HERE / task).glob("*.txt")]
    parts = sorted({part for shipped in texts for part in split(shipped)})
    if odd := [part for part in split(text) if part not in parts] if parts else []:
        return f"`{task}` has no section [{odd[0]}]. {_nearest(odd[0], parts)}"
    known = sorted({name for shipped in texts for name in Template(shipped).get_identifiers()})
    strange = [name for name in Template(text).get_identifiers() if name not in known]
    return (
        f"`{task}` has no placeholder ${strange[0]}. {_nearest(strange[0], known)}"
        if strange
        else ""
    )


def _nearest(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"Did you mean `{near[0]}`?" if near else f"Known: {', '.join(known) or 'none'}."


def _tasks() -> list[str]:
    return sorted({path.parent.name for path in _files(HERE)})


def _all(folder: Path) -> Iterator[tuple[Path, _Own]]:
    for path in _files(folder):
        if found := _read(path, path.parent.name):
            yield path, found


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.txt"))


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def _place(path: Path) -> str:
    return "/".join(path.parts[-3:])

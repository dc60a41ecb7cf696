"""What the documentation says is so: the reference is current, links lead somewhere, examples
work."""

import importlib.util
import json
import os
import re
import shlex
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from ombud import errors
from ombud.answer import read_contacts, read_sensitive
from ombud.app import Workspace, configured_sources
from ombud.cli import console
from ombud.cli.batch import question_of, read_lines
from ombud.documents import front_matter
from ombud.errors import OmbudError
from ombud.ingest import sync_sources
from ombud.lab import METRICS, read_cases
from ombud.prompts import HERE as PROMPTS
from ombud.retrieve import read_glossary
from ombud.settings import PLACES, Experiment, PlanOverlay, Settings, load
from ombud.sources import FolderSource, normalise_metadata
from ombud.types import Plan
from ombud.web.api import router

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md")] + sorted(
    ROOT.glob("docs/**/*.md")
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate = _generator()


class Block(NamedTuple):
    page: Path
    number: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}-{self.number}-{self.kind}"


BLOCKS = [
    Block(page, number, *found)
    for page in PAGES
    if page.parent.name != "reference"
    for number, found in enumerate(FENCE.findall(page.read_text(encoding="utf-8")), start=1)
]


def blocks(*kinds: str) -> list[Any]:
    return [pytest.param(block, id=str(block)) for block in BLOCKS if block.kind in kinds]


@pytest.fixture(autouse=True)
def _own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in os.environ if n.startswith("OMBUD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(console.state, "home", None)


# The reference ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    made: dict[str, str] = generate.pages()
    return made


def test_the_reference_is_current(reference: dict[str, str]) -> None:
    assert generate.stale(reference) == [], "run `make docs`"


def test_the_reference_holds_no_page_of_the_past(reference: dict[str, str]) -> None:
    assert {path.name for path in (ROOT / "docs/reference").iterdir()} == set(reference)


def test_check_tells_a_stale_page_and_writing_mends_it(
    tmp_path: Path,
    reference: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(generate, "pages", lambda: reference)
    monkeypatch.setattr(generate, "REFERENCE", tmp_path)
    monkeypatch.setattr(generate.stale, "__defaults__", (tmp_path,))
    assert generate.main(["--check"]) == 1
    assert list(tmp_path.iterdir()) == []
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    (tmp_path / "cli.md").write_text("old", encoding="utf-8")
    capsys.readouterr()
    assert generate.main(["--check"]) == 1
    assert capsys.readouterr().err == "docs/reference/cli.md is stale; run `make docs`.\n"


def _keys() -> Iterator[str]:
    for section, field in Settings.model_fields.items():
        inner = getattr(field.annotation, "model_fields", None)
        yield from [f"{section}.{key}" for key in inner] if inner else [section]
    yield from (f"plan.{key}" for key in Plan.model_fields)
    yield from (f"source.{key}" for place in PLACES for key in place.model_fields if key != "type")
    yield from (f"country.XX.{key}" for key in PlanOverlay.model_fields)
    yield from (
        f"experiment.NAME.{key}"
        for key in Experiment.model_fields
        if key not in PlanOverlay.model_fields
    )


@pytest.mark.parametrize("key", sorted(set(_keys()) - {"source"}))
def test_every_setting_is_in_the_reference(key: str, reference: dict[str, str]) -> None:
    assert f"| `{key}` |" in reference["settings.md"]


def test_every_setting_is_described() -> None:
    models = [
        PlanOverlay,
        Experiment,
        *PLACES,
        *(f.annotation for f in Settings.model_fields.values()),
    ]
    for model in models:
        for name, field in getattr(model, "model_fields", {}).items():
            assert field.description, name


def test_settings_that_nothing_reads_are_marked(reference: dict[str, str]) -> None:
    assert generate.is_read("chunk_tokens")
    assert not generate.is_read("a_name_nobody_uses")
    line = next(
        line for line in reference["settings.md"].splitlines() if line.startswith("| `plan.k` |")
    )
    assert "Reserved" not in line


@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_metric_is_in_the_reference(name: str, reference: dict[str, str]) -> None:
    assert re.search(rf"^\| `{name}(@k)?`", reference["metrics.md"], re.MULTILINE)


@pytest.mark.parametrize(
    "error", [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, OmbudError)]
)
def test_every_error_is_in_the_reference(
    error: type[OmbudError], reference: dict[str, str]
) -> None:
    assert f"| `{error.__name__}` | {error.exit_code} | {error.status} |" in reference["errors.md"]


@pytest.mark.parametrize(
    "path", sorted(PROMPTS.glob("*/*.txt")), ids=lambda p: f"{p.parent.name}/{p.stem}"
)
def test_every_prompt_is_in_the_reference(path: Path, reference: dict[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    section = (
        reference["prompts.md"]
        .partition(f"## {path.parent.name}/{path.stem}\n")[2]
        .partition("\n## ")[0]
    )
    assert text.rstrip() in section
    for name in string.Template(text).get_identifiers():
        assert f"| `${name}` | {generate.FILLED_BY[name]} |" in section


def test_every_command_and_option_is_in_the_reference(reference: dict[str, str]) -> None:
    for name, command in generate.commands():
        section = reference["cli.md"].partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert section, name
        for option in (o for p in command.params for o in p.opts if o.startswith("-")):
            assert f"`{option}`" in section, f"{name} {option}"


def test_every_route_and_shape_is_in_the_reference(reference: dict[str, str]) -> None:
    described = generate.openapi()
    for path, operations in described["paths"].items():
        for method in operations:
            assert f"### {method.upper()} {path}\n" in reference["api.md"]
    for name in described["components"]["schemas"]:
        assert f"### {name}\n" in reference["api.md"]


# Links --------------------------------------------------------------------------------------------


def _links() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            if not re.match(r"[a-z]+:", target):
                yield page, target


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(
        r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    ("page", "target"), list(_links()), ids=lambda given: str(given).removeprefix(f"{ROOT}/")
)
def test_links_lead_somewhere(page: Path, target: str) -> None:
    name, _, anchor = target.partition("#")
    there = (page.parent / name).resolve() if name else page
    assert there.exists()
    assert there.is_relative_to(ROOT)
    if anchor:
        assert anchor in _anchors(there)


@pytest.mark.parametrize("folder", ["docs/guides", "docs/reference"])
def test_every_page_is_in_its_index(folder: str) -> None:
    index = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / folder).glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in index


# Commands -----------------------------------------------------------------------------------------


def command_lines(text: str, console_block: bool) -> Iterator[list[str]]:
    """Words of each command; of a transcript the lines after `$ `."""
    for line in text.replace("\\\n", " ").splitlines():
        said = line.removeprefix("$ ") if line.startswith("$ ") or not console_block else ""
        words: list[str] = []
        for word in [*shlex.split(said, comments=True), ";"]:
            if word in {";", "&&", "|", ">", "<", "&"}:
                if words:
                    yield words
                words = []
            elif words or not re.fullmatch(r"[A-Z_]+=.*", word):
                words.append(word)


def parse(arguments: list[str]) -> None:
    """Raises what the command line itself would say of wrong verbs and options; runs nothing."""
    if arguments[:1] == ["--home"]:
        arguments = arguments[2:]
    known = {tuple(name.split()[1:]): command for name, command in generate.commands()}
    verb = next((verb for verb in known if tuple(arguments[: len(verb)]) == verb), None)
    assert verb, f"no command is called {' '.join(arguments[:2])}"
    known[verb].make_context(" ".join(verb), arguments[len(verb) :]).close()


OMBUD = [
    pytest.param(words[1:], id=" ".join([str(block), *words[1:4]]))
    for block in BLOCKS
    if block.kind in {"sh", "console"}
    for words in command_lines(block.text, block.kind == "console")
    if Path(words[0]).name == "ombud"
]


@pytest.mark.parametrize("arguments", OMBUD)
def test_commands_parse(arguments: list[str]) -> None:
    parse(arguments)


@pytest.mark.parametrize(
    "line", ["answer 'hello'", "ask --contry GB 'hello'", "search -k many x", "documents show"]
)
def test_wrong_commands_do_not_parse(line: str) -> None:
    with pytest.raises(Exception, match=r"no command|No such option|valid|Missing"):
        parse(shlex.split(line))


def test_command_lines() -> None:
    text = (
        '$ A=1 .venv/bin/ombud ask "a | b" \\\n  --country GB > out.txt  # why\nError: no $ here\n'
    )
    assert list(command_lines(text, console_block=True)) == [
        [".venv/bin/ombud", "ask", "a | b", "--country", "GB"],
        ["out.txt"],
    ]


@pytest.mark.parametrize("block", blocks("sh"))
def test_make_targets_exist(block: Block) -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for words in command_lines(block.text, console_block=False):
        if words[0] == "make":
            assert words[1] in targets


@pytest.mark.parametrize("block", blocks("sh"))
def test_requests_are_ones_that_the_api_takes(block: Block) -> None:
    routes = [route for route in router.routes if isinstance(route, APIRoute)]
    for words in command_lines(block.text, console_block=False):
        if words[0] != "curl":
            continue
        address = next(word for word in words if word.startswith("http://"))
        path = "/" + address.split("/", 3)[3].partition("?")[0]
        method = "POST" if {"-d", "-X"} & set(words) else "GET"
        route = next(
            r for r in routes if method in (r.methods or ()) and r.path_regex.fullmatch(path)
        )
        if "-d" in words:
            assert route.body_field
            shape: Any = route.body_field.field_info.annotation
            TypeAdapter(shape).validate_json(words[words.index("-d") + 1])


# Data ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", blocks("json"))
def test_json_parses(block: Block) -> None:
    json.loads(block.text)


@pytest.mark.parametrize("block", blocks("jsonl"))
def test_json_lines_are_cases_or_questions(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text(block.text, encoding="utf-8")
    if '"expect"' in block.text:
        assert read_cases(path)
        return
    for _, row in read_lines(path):
        assert isinstance(row, dict), row
        question_of(row)


@pytest.mark.parametrize("block", blocks("toml"))
def test_toml_is_a_file_that_ombud_reads(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "ombud.toml"
    path.write_text(block.text, encoding="utf-8")
    keys = set(tomllib.loads(block.text))
    if "contact" in keys:
        assert read_contacts(path).find("general", None)
    elif "matter" in keys:
        read_sensitive(path)
    else:
        with_sources = load(tmp_path)
        assert keys <= set(Settings.model_fields)
        assert with_sources != Settings()


@pytest.mark.parametrize("block", blocks("yaml"))
def test_yaml_is_an_ombud_yaml(block: Block, tmp_path: Path) -> None:
    (tmp_path / "ombud.yaml").write_text(block.text, encoding="utf-8")
    (tmp_path / "pay.md").write_text("# Pay\n", encoding="utf-8")
    assert FolderSource("policies", tmp_path).list()[0].facts


@pytest.mark.parametrize("block", blocks("markdown"))
def test_front_matter_is_understood(block: Block) -> None:
    assert normalise_metadata(front_matter(block.text.encode(), "a.md"), "a.md", strict=True)


@pytest.mark.parametrize("block", blocks("csv"))
def test_csv_is_a_glossary(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "glossary.csv"
    path.write_text(block.text, encoding="utf-8")
    first = block.text.splitlines()[1].split(",")
    assert read_glossary(path).expansions(first[0], None) == [first[1]]


def test_every_kind_of_block_is_looked_at() -> None:
    looked_at = {"sh", "console", "json", "jsonl", "toml", "yaml", "markdown", "csv", "python"}
    assert {block.kind for block in BLOCKS} <= looked_at | {"text", ""}


# Python -------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the guides leave it: a workspace `my-policies`, and cases."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "policies"
    (folder / "gb").mkdir(parents=True)
    text = "# Annual leave\n\nEmployees in Great Britain have 26 days of annual leave.\n"
    (folder / "gb" / "leave.md").write_text(text, encoding="utf-8")
    home = tmp_path / "my-policies"
    home.mkdir()
    settings = '[models]\nembedder = "none"\n[[source]]\nname = "policies"\npath = "../policies"\n'
    (home / "ombud.toml").write_text(settings, encoding="utf-8")
    cases = "".join(
        block.text for block in BLOCKS if block.kind == "jsonl" and '"expect"' in block.text
    )
    (tmp_path / "my-cases.jsonl").write_text(cases, encoding="utf-8")
    workspace = Workspace(home)
    reports = sync_sources(
        workspace.ingest, configured_sources(workspace.settings, home, workspace.store)
    )
    assert all(report.ok for report in reports)
    workspace.close()
    return tmp_path


@pytest.mark.parametrize("block", blocks("python"))
def test_python_runs(block: Block, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.is_dir()
    exec(compile(block.text, str(block), "exec"), {"__name__": "example"})
    assert capsys.readouterr().out

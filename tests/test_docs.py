"""What the documentation says is so: the reference is current, links lead somewhere, examples work.

A check looks at all there is of its kind and names every page and line that fails it.
"""

import ast
import importlib.util
import json
import os
import re
import shlex
import string
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import pytest
import yaml
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from ombud import errors
from ombud.answer import read_contacts, read_sensitive
from ombud.app import Workspace, configured_sources, replies
from ombud.cli import console
from ombud.cli.batch import question_of, read_lines
from ombud.documents import front_matter
from ombud.errors import OmbudError
from ombud.ingest import sync_sources
from ombud.lab import METRICS, read_cases, read_design, read_rubrics
from ombud.prompts import HERE as PROMPTS
from ombud.retrieve import read_glossary
from ombud.settings import PLACES, Experiment, PlanOverlay, Settings, load
from ombud.sources import FolderSource, normalise_metadata
from ombud.types import Plan
from ombud.web.api import router
from ombud.web.live import advisor, employee

ROOT = Path(__file__).parents[1]
PAGES = [
    page
    for pattern in ("*.md", "docs/**/*.md", "research/results/**/*.md")
    for page in sorted(ROOT.glob(pattern))
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


T = TypeVar("T")


@cache
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Block(NamedTuple):
    page: Path
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@cache
def all_blocks() -> list[Block]:
    """Every fenced block outside the generated reference."""
    found = []
    for page in PAGES:
        if page.parent.name == "reference":
            continue
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(page, line, match[1], match[2]))
    return found


def blocks(*kinds: str) -> list[Block]:
    return [block for block in all_blocks() if block.kind in kinds]


def every(items: Iterable[T], check: Callable[[T], object]) -> None:
    """Checks all of them, then fails with one line for each that did not pass; there must be some."""
    looked_at, faults = 0, []
    for item in items:
        looked_at += 1
        try:
            check(item)
        except Exception as wrong:
            faults.append(f"{item}: {wrong or type(wrong).__name__}")
    assert looked_at, "there is nothing to look at"
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


def test_a_check_names_all_that_fail() -> None:
    def check(number: int) -> None:
        assert number != 2, "two is wrong"
        number / (number - 3)

    with pytest.raises(pytest.fail.Exception) as wrong:
        every([1, 2, 3, 4], check)
    told = str(wrong.value).splitlines()
    assert [line.partition(":")[0] for line in told if line[:1] in "1234"] == ["2", "3"]
    assert "two is wrong" in told[0]
    with pytest.raises(AssertionError, match="nothing to look at"):
        every([], check)


def test_a_block_knows_its_line() -> None:
    assert all_blocks()
    for block in all_blocks():
        assert (
            block.page.read_text(encoding="utf-8").splitlines()[block.line - 1]
            == f"```{block.kind}"
        )


@pytest.fixture(autouse=True)
def _own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        n for n in os.environ if n.startswith("OMBUD_") and n != "OMBUD_DOCUMENTS__PROCESSES"
    ]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(console.state, "home", None)


# The reference ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    made: dict[str, str] = generator().pages()
    return made


def test_the_reference_is_current(reference: dict[str, str]) -> None:
    assert generator().stale(reference) == [], "run `make docs`"


def test_the_reference_holds_no_page_of_the_past(reference: dict[str, str]) -> None:
    assert {path.name for path in (ROOT / "docs/reference").iterdir()} == set(reference)


def test_check_tells_a_stale_page_and_writing_mends_it(
    tmp_path: Path,
    reference: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    generate = generator()
    monkeypatch.setattr(generate, "pages", lambda: reference)
    monkeypatch.setattr(generate, "REFERENCE", tmp_path)
    monkeypatch.setattr(generate.stale, "__defaults__", (tmp_path,))
    assert generator().main(["--check"]) == 1
    assert list(tmp_path.iterdir()) == []
    assert generator().main([]) == 0
    assert generator().main(["--check"]) == 0
    (tmp_path / "cli.md").write_text("old", encoding="utf-8")
    capsys.readouterr()
    assert generator().main(["--check"]) == 1
    assert capsys.readouterr().err == "docs/reference/cli.md is stale; run `make docs`.\n"


def test_a_picture_of_floors_that_the_imports_do_not_make_is_replaced() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert "answer_ --> retrieve_" in page
    edited = page.replace("answer_ --> retrieve_", "retrieve_ --> answer_")
    assert generator().with_floors(edited) == page


def _keys() -> Iterator[str]:
    for section, field in Settings.model_fields.items():
        inner = getattr(field.annotation, "model_fields", None)
        if inner is None:
            yield section
        for key, part in (inner or {}).items():
            within = getattr(part.annotation, "model_fields", {"": None})
            yield from (f"{section}.{key}.{name}".rstrip(".") for name in within)
    yield from (f"plan.{key}" for key in Plan.model_fields)
    yield from (f"source.{key}" for place in PLACES for key in place.model_fields if key != "type")
    yield from (f"country.XX.{key}" for key in PlanOverlay.model_fields)
    yield from (
        f"experiment.NAME.{key}"
        for key in Experiment.model_fields
        if key not in PlanOverlay.model_fields
    )


def test_every_setting_is_in_the_reference(reference: dict[str, str]) -> None:
    keys = set(_keys()) - {"source"}
    assert len(keys) > 100
    assert sorted(key for key in keys if f"| `{key}` |" not in reference["settings.md"]) == []


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
    assert generator().is_read("chunk_tokens")
    assert not generator().is_read("a_name_nobody_uses")
    line = next(
        line for line in reference["settings.md"].splitlines() if line.startswith("| `plan.k` |")
    )
    assert "Reserved" not in line


def test_every_metric_is_in_the_reference(reference: dict[str, str]) -> None:
    page = reference["metrics.md"]
    assert [
        name for name in sorted(METRICS) if not re.search(rf"^\| `{name}(@k)?`", page, re.MULTILINE)
    ] == []


def test_every_error_is_in_the_reference(reference: dict[str, str]) -> None:
    known = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, OmbudError)]
    lines = {
        error: f"| `{error.__name__}` | {error.exit_code} | {error.status} |" for error in known
    }
    assert [error for error, line in lines.items() if line not in reference["errors.md"]] == []


def test_every_prompt_is_in_the_reference(reference: dict[str, str]) -> None:
    on_site = generator().full_prompts_page()

    def check(path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        name = f"{path.parent.name}/{path.stem}"
        row = reference["prompts.md"].partition(f"| [{name}](")[2].partition("\n")[0]
        section = on_site.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert text.rstrip() in section
        for placeholder in string.Template(text).get_identifiers():
            assert f"`${placeholder}`" in row
            filled = f"| `${placeholder}` | {generator().FILLED_BY[placeholder]} |"
            assert filled in section
            assert filled in reference["prompts.md"]

    every(sorted(PROMPTS.glob("*/*.txt")), check)


def test_every_command_and_option_is_in_the_reference(reference: dict[str, str]) -> None:
    for page in (reference["cli.md"], generator().full_cli_page()):
        for name, command in generator().commands():
            section = page.partition(f"## {name}\n")[2].partition("\n## ")[0]
            assert section, name
            options = {o for p in command.params for o in p.opts if o.startswith("-")}
            for option in options - {"--home"}:
                assert re.search(rf"[`/ ]{option}[`/,]", section), f"{name} {option}"


def test_every_route_and_shape_is_in_the_reference(reference: dict[str, str]) -> None:
    described, on_site = generator().openapi(), generator().full_api_page()
    for path, operations in described["paths"].items():
        for method in operations:
            assert f"| `{method.upper()} {path}` |" in reference["api.md"]
            assert f"### {method.upper()} {path}\n" in on_site
    for name in described["components"]["schemas"]:
        assert f"### {name}\n" in reference["api.md"]
        assert f"### {name}\n" in on_site


# Links --------------------------------------------------------------------------------------------


class Link(NamedTuple):
    page: Path
    target: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}: {self.target}"


def _links() -> Iterator[Link]:
    for page in PAGES:
        for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            if not re.match(r"[a-z]+:", target):
                yield Link(page, target)


@cache
def _anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(
        r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    def check(link: Link) -> None:
        name, _, anchor = link.target.partition("#")
        there = (link.page.parent / name).resolve() if name else link.page
        assert there.exists(), "leads nowhere"
        assert there.is_relative_to(ROOT), "leads out of the house"
        assert not anchor or anchor in _anchors(there), f"there is no heading #{anchor}"

    every(_links(), check)


@pytest.mark.parametrize("folder", ["docs/guides", "docs/reference"])
def test_every_page_is_in_its_index(folder: str) -> None:
    index = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / folder).glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in index


def test_errors_that_troubleshooting_quotes_are_ones_that_the_code_prints() -> None:
    printed = {
        text for po in ROOT.glob("src/ombud/messages/en/*.po") for text in [po.read_text("utf-8")]
    }
    for module in ROOT.glob("src/ombud/**/*.py"):
        tree = ast.parse(module.read_text(encoding="utf-8"))
        constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        printed.update(text for text in constants if isinstance(text, str))
    page = (ROOT / "docs/guides/troubleshooting.md").read_text(encoding="utf-8")

    def check(quoted: str) -> None:
        for part in filter(None, (part.strip(" `.") for part in quoted.split("…"))):
            assert any(part in text for text in printed), f"nothing prints `{part}`"

    every(re.findall("“([^”]{2,})”", page), check)


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
    known = {tuple(name.split()[1:]): command for name, command in generator().commands()}
    verb = next((verb for verb in known if tuple(arguments[: len(verb)]) == verb), None)
    assert verb, f"no command is called {' '.join(arguments[:2])}"
    known[verb].make_context(" ".join(verb), arguments[len(verb) :]).close()


def test_commands_parse() -> None:
    def check(block: Block) -> None:
        for words in command_lines(block.text, block.kind == "console"):
            if Path(words[0]).name == "ombud":
                parse(words[1:])

    every(blocks("sh", "console"), check)


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


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = re.findall(r"^([\w -]+):", makefile, re.MULTILINE)
    targets = {target for rule in rules for target in rule.split()}

    def check(block: Block) -> None:
        for words in command_lines(block.text, console_block=False):
            if words[0] == "make":
                assert words[1] in targets, f"there is no target {words[1]}"

    every(blocks("sh"), check)


def test_requests_are_ones_that_the_api_takes() -> None:
    parts = (router, employee.router, advisor.router)
    routes = [r for part in parts for r in part.routes if isinstance(r, APIRoute)]

    def check(block: Block) -> None:
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

    every(blocks("sh"), check)


# Data ---------------------------------------------------------------------------------------------


def test_json_parses() -> None:
    every(blocks("json"), lambda block: json.loads(block.text))


def test_json_lines_are_cases_or_questions(tmp_path: Path) -> None:
    def check(block: Block) -> None:
        path = tmp_path / "lines.jsonl"
        path.write_text(block.text, encoding="utf-8")
        if '"expect"' in block.text:
            assert read_cases(path)
            return
        for _, row in read_lines(path):
            assert isinstance(row, dict), row
            question_of(row)

    every(blocks("jsonl"), check)


def test_toml_is_a_file_that_ombud_reads(tmp_path: Path) -> None:
    def check(block: Block) -> None:
        path = tmp_path / "ombud.toml"
        path.write_text(block.text, encoding="utf-8")
        keys = set(tomllib.loads(block.text))
        if "contact" in keys:
            assert read_contacts(path).find("general", None)
        elif "matter" in keys:
            read_sensitive(path)
        elif "levels" in keys:
            own = tmp_path / "rubrics" / "ours" / "one.toml"
            own.parent.mkdir(parents=True, exist_ok=True)
            path.rename(own)
            assert read_rubrics(tmp_path / "rubrics")["ours.one"].levels
        elif "metrics" in keys:
            assert read_design(path).claims
        elif "reply" in keys:
            path.rename(tmp_path / "replies.toml")
            assert replies.canned_replies(Workspace(tmp_path))
        else:
            with_sources = load(tmp_path, remote={})  # no network
            assert keys <= set(Settings.model_fields)
            assert with_sources != Settings()

    every(blocks("toml"), check)


def test_yaml_is_an_ombud_yaml(tmp_path: Path) -> None:
    (tmp_path / "pay.md").write_text("# Pay\n", encoding="utf-8")

    def check(block: Block) -> None:
        (tmp_path / "ombud.yaml").write_text(block.text, encoding="utf-8")
        assert FolderSource("policies", tmp_path).list()[0].facts

    every(blocks("yaml"), check)


def test_front_matter_is_understood() -> None:
    def check(block: Block) -> None:
        assert normalise_metadata(front_matter(block.text.encode(), "a.md"), "a.md", strict=True)

    every(blocks("markdown"), check)


def test_csv_is_a_glossary(tmp_path: Path) -> None:
    def check(block: Block) -> None:
        path = tmp_path / "glossary.csv"
        path.write_text(block.text, encoding="utf-8")
        first = block.text.splitlines()[1].split(",")
        assert read_glossary(path).expansions(first[0], None) == [first[1]]

    every(blocks("csv"), check)


def test_every_kind_of_block_is_looked_at() -> None:
    looked_at = {"sh", "console", "json", "jsonl", "toml", "yaml", "markdown", "csv", "python"}
    assert {block.kind for block in all_blocks()} <= looked_at | {"mermaid", "text", ""}


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
    cases = "".join(block.text for block in blocks("jsonl") if '"expect"' in block.text)
    (tmp_path / "my-cases.jsonl").write_text(cases, encoding="utf-8")
    workspace = Workspace(home)
    reports = sync_sources(
        workspace.ingest, configured_sources(workspace.settings, home, workspace.store)
    )
    assert all(report.ok for report in reports)
    workspace.close()
    return tmp_path


def test_python_runs(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.is_dir()

    def check(block: Block) -> None:
        exec(compile(block.text, str(block), "exec"), {"__name__": "example"})
        assert capsys.readouterr().out

    every(blocks("python"), check)


def test_the_site_names_every_guide_and_no_page_that_is_not_there() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    named: list[str] = []
    for section in site["nav"]:
        for pages in section.values():
            named += [pages] if isinstance(pages, str) else pages
    assert [name for name in named if not (ROOT / "docs" / name).is_file()] == []
    guides = {f"guides/{file.name}" for file in (ROOT / "docs/guides").glob("*.md")}
    assert guides - set(named) == {"guides/README.md"}


def test_what_containers_set_are_settings() -> None:
    composed = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["ombud"]
    contained = re.findall(r"OMBUD_\w+", (ROOT / "Containerfile").read_text())
    for name in {*composed["environment"], *contained} - {"OMBUD_HOME"}:
        section, _, key = name.removeprefix("OMBUD_").removesuffix("_FILE").lower().partition("__")
        assert key in type(getattr(Settings(), section)).model_fields, name

"""Writes docs/reference, and the picture of floors in ARCHITECTURE.md, from the code.

Run: python docs/generate.py. With --check nothing is written, and the exit code is 1 when a page is
not what the code says now.
"""

import argparse
import ast
import inspect
import json
import re
import sys
import tempfile
import types
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from ombud import errors
from ombud.app import Workspace
from ombud.cli.process import INTERRUPTED
from ombud.cli.verbs import app as command_line
from ombud.lab import METRICS, Measure
from ombud.messages import find_message, language_names, messages_of
from ombud.models import EXPOSURES
from ombud.prompts import HERE as PROMPTS
from ombud.prompts import Prompt
from ombud.settings import PLACES, Experiment, PlanOverlay, Section, Settings, SourceSettings
from ombud.types import Plan
from ombud.web import create_app
from ombud.web.problems import problem

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
CODE = ROOT / "src" / "ombud"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
FLOORS_BEGIN = "<!-- floors: made from the imports by `make docs` -->\n"
FLOORS_END = "<!-- /floors -->"
HEAD = (
    "<!-- Made by docs/generate.py from the code. Do not edit; change the code and run "
    "`make docs`. -->\n\n"
)

Rows = Sequence[Sequence[str]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write docs/reference from the code.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when a page is stale"
    )
    wanted = pages()
    old = stale(wanted)
    architecture = with_floors(ARCHITECTURE.read_text(encoding="utf-8"))
    is_drawn = _same(ARCHITECTURE, architecture)
    if parser.parse_args(arguments).check:
        names = [f"docs/reference/{name}" for name in old]
        names += [] if is_drawn else [ARCHITECTURE.name]
        for name in names:
            print(f"{name} is stale; run `make docs`.", file=sys.stderr)
        return 1 if names else 0
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name in old:
        (REFERENCE / name).write_text(wanted[name], encoding="utf-8")
        print(f"Wrote docs/reference/{name}.")
    if not is_drawn:
        ARCHITECTURE.write_text(architecture, encoding="utf-8")
        print(f"Drew the floors in {ARCHITECTURE.name}.")
    for language in language_names():
        missing = untranslated(language)
        if missing:
            print(f"{language}: {len(missing)} untranslated messages: {', '.join(missing)}")
    return 0


def untranslated(language: str) -> list[str]:
    """Return the keys that a language lacks in the domains for which it has a catalogue."""
    english: list[str] = []
    for path in sorted((CODE / "messages" / language).glob("*.po")):
        english.extend(messages_of(path.stem, "en"))
    return [key for key in english if not find_message(key, language)]


def pages() -> dict[str, str]:
    """File name -> what should stand in it."""
    made = {
        "api.md": api_page(),
        "cli.md": cli_page(),
        "errors.md": errors_page(),
        "metrics.md": metrics_page(),
        "privacy.md": privacy_page(),
        "prompts.md": prompts_page(),
        "settings.md": settings_page(),
    }
    made["README.md"] = index_page(made)
    return {name: HEAD + text.rstrip() + "\n" for name, text in made.items()}


def stale(wanted: Mapping[str, str], folder: Path = REFERENCE) -> list[str]:
    """Names of the pages that are missing or differ."""
    return [name for name, text in wanted.items() if not _same(folder / name, text)]


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def index_page(made: Mapping[str, str]) -> str:
    lines = []
    for name, text in made.items():
        title = text.splitlines()[0].removeprefix("# ")
        lines.append(f"* [{title}]({name})")
    return "# Reference\n\nMade from the code; a test compares it.\n\n" + "\n".join(lines)


# Floors -------------------------------------------------------------------------------------------


def with_floors(page: str) -> str:
    """The page with today's picture between its two marks."""
    before, _, rest = page.partition(FLOORS_BEGIN)
    _, _, after = rest.partition(FLOORS_END)
    return f"{before}{FLOORS_BEGIN}\n{floors_graph()}\n\n{FLOORS_END}{after}"


def floors_graph() -> str:
    """Rooms on their floors in Mermaid, with each import that no chain of other imports implies."""
    house = ast.parse((ROOT / "tests" / "test_house.py").read_text(encoding="utf-8"))
    floors = next(
        ast.literal_eval(node.value)
        for node in house.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FLOORS"
    )
    rooms = {room: level for level, floor in enumerate(floors) for room in floor}
    rooms = {room: level for room, level in rooms.items() if (CODE / room).is_dir()}
    imports = {room: _rooms_imported(room) & rooms.keys() for room in rooms}
    lines = ["```mermaid", "flowchart TB"]
    for level in reversed(range(len(floors))):
        if here := sorted(room for room in rooms if rooms[room] == level):
            lines.append(f'  subgraph floor{level}[" "]')
            lines += [f'    {room}_["{room}/"]' for room in here]  # `graph` is a keyword
            lines.append("  end")
    for room in sorted(rooms, key=lambda room: (-rooms[room], room)):
        implied = set().union(*(_reached(other, imports) for other in imports[room]))
        lines += [f"  {room}_ --> {other}_" for other in sorted(imports[room] - implied)]
    return "\n".join([*lines, "```"])


def _rooms_imported(room: str) -> set[str]:
    names: set[str] = set()
    for path in (CODE / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names.add(node.module or "")
            elif isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
    return {name.split(".")[1] for name in names if name.startswith("ombud.")} - {room}


def _reached(room: str, imports: Mapping[str, set[str]]) -> set[str]:
    return imports[room].union(*(_reached(other, imports) for other in imports[room]))


# Settings -----------------------------------------------------------------------------------------


def privacy_page() -> str:
    titles = ("model", "used by", "given", "`never`", "`redacted`")
    rows = [
        (f"`{row.role}`", row.used_by, row.ordinary, row.never, row.redacted) for row in EXPOSURES
    ]
    words = [
        "# What models are given",
        "Models that are not on this machine, by role: what each is given of an ordinary question, "
        "and what of a sensitive one and of those that follow it, by `models.sensitive` (with "
        "`allowed`: the same as of an ordinary one). A model on this machine is given all. What "
        "counts as sensitive and as on this machine stands in the guide "
        "[Models](../guides/models.md#what-is-kept-from-them).",
        _table(titles, rows),
        "Also put before models, by commands of the operator and whatever is set: labelled "
        "questions (`python -m research.training.router` with a remote `models.embedder`), a question that is "
        "typed into `ombud route`, and answers with their references where a metric compares "
        "vectors (`semantic_similarity`).",
    ]
    return "\n\n".join(words)


def settings_page() -> str:
    words = [
        "# Settings",
        "They stand in `ombud.toml` of the workspace. A variable `OMBUD_SECTION__KEY` wins over "
        "the file (lists are JSON there), and a command's flag wins over both. A key nobody knows "
        "is an error. `ombud settings` prints every setting with its value and where that comes "
        "from.",
        'Settings marked "reserved" are checked when they are read, but nothing is behind them in '
        "this version.",
    ]
    for name, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            words += [f"## [{name}]", _fields_table(field.annotation, f"{name}.")]
    words += [
        "## [country.XX], [persona.NAME] and [experiment.NAME]",
        _fields_table(Settings, "", only=("country", "persona", "experiment")),
        "Each of their tables holds:",
        _fields_table(PlanOverlay, "country.XX."),
        "An experiment holds as well:",
        _fields_table(Experiment, "experiment.NAME.", only=("share", "countries", "off", "since")),
        "## [[source]]",
        "One block a source, as many as there are. `type` says what kind it is; a folder, when it "
        "does not.",
        _fields_table(SourceSettings, "source."),
        *(part for place in PLACES for part in _place(place)),
    ]
    return "\n\n".join(words)


def _place(place: type[SourceSettings]) -> Iterator[str]:
    kind = place.model_fields["type"]
    yield f"### type = {json.dumps(kind.default)}"
    yield f"{kind.description}"
    own = [
        name for name in place.model_fields if name not in {*SourceSettings.model_fields, "type"}
    ]
    yield _table(("key", "type", "default", "what"), list(_rows(place, "source.", only=own)))


def _fields_table(model: type[BaseModel], prefix: str, only: Sequence[str] = ()) -> str:
    return _table(("key", "type", "default", "what"), list(_rows(model, prefix, only)))


def _rows(model: type[BaseModel], prefix: str, only: Sequence[str] = ()) -> Iterator[list[str]]:
    for name, field in model.model_fields.items():
        if only and name not in only:
            continue
        if isinstance(field.default, Section):
            yield from _rows(type(field.default), f"{prefix}{name}.")
            continue
        what = field.description or ""
        if not is_read(name):
            what += " Reserved."
        yield [f"`{prefix}{name}`", _type_of(field), _default_of(field), what]


def is_read(name: str) -> bool:
    """Whether anything reads a field of this name; where it is declared and checked does not
    count."""
    return any(re.search(rf"\.({name}\b|get\(\"{name}\")", text) for text in _sources())


@cache
def _sources() -> list[str]:
    apart = {CODE / "settings" / f"{name}.py" for name in ("places", "sections", "handoff")} | set(
        (CODE / "types").glob("*.py")
    )
    found = sorted(path for kind in ("*.py", "*.html") for path in CODE.rglob(kind))
    return [path.read_text(encoding="utf-8") for path in found if path not in apart]


def _default_of(field: FieldInfo) -> str:
    if field.is_required():
        return "(required)"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "unset"
    return f"`{json.dumps(value, ensure_ascii=False, default=_jsonable)}`"


def _jsonable(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def _type_of(field: FieldInfo) -> str:
    return _words_of(field.annotation) + _bounds(field.metadata)


def _bounds(limits: Sequence[Any]) -> str:
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    words = []
    for limit in limits:
        for sign, word in signs.items():
            if hasattr(limit, sign):
                words.append(f" {word} {getattr(limit, sign)}")
    return ",".join(words)


PLAIN = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    Path: "path",
    Any: "any",
    type(None): "unset",
    Plan: "table of plan fields",
}


def _words_of(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_words_of, inner))
    if origin is tuple:
        return f"list of {_words_of(inner[0])}"
    if origin is dict:
        _, value = inner
        return "table" if value in (Any, PlanOverlay) else f"table of {_words_of(value)}"
    return PLAIN.get(kind) or str(getattr(kind, "__name__", kind))


# Commands -----------------------------------------------------------------------------------------


ABOUT_COMMANDS = (
    "# Commands",
    "`--home` stands before or after the verb. Without it the workspace is `OMBUD_HOME`, else "
    "the nearest parent folder with an `ombud.toml`. Exit codes: see [errors](errors.md).",
)


def cli_page() -> str:
    """What each command does and its options by name; the site shows `full_cli_page`."""
    words = [
        *ABOUT_COMMANDS,
        "Every command takes `--home`. `ombud VERB --help` says what each option takes and does; "
        "so does the site that `make docs` builds.",
    ]
    for name, command in commands():
        options = [f"`{_spelt(*declared)}`" for declared in _declared(command)]
        named = ", ".join(option for option in options if option != "`--home`")
        words += [f"## {name}", _tidy(command.help), named]
    return "\n\n".join(filter(None, words))


def full_cli_page() -> str:
    words = [*ABOUT_COMMANDS]
    for name, command in commands():
        words += [f"## {name}", _tidy(command.help), f"```text\n{_usage(name, command)}\n```"]
        table = _parameters(command)
        if table:
            words.append(table)
    return "\n\n".join(words)


def commands() -> list[tuple[str, Any]]:
    """(full name, click command) of every verb; groups and hidden names are left out."""
    return list(_leaves("ombud", typer.main.get_command(command_line)))


def _leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
        return
    for verb, inner in command.commands.items():
        if inner.hidden:
            continue
        yield from _leaves(f"{name} {verb}", inner)


def _usage(name: str, command: Any) -> str:
    arguments = []
    for argument, info, kind in _declared(command):
        if isinstance(info, ArgumentInfo):
            arguments.append(_spelt(argument, info, kind))
    return " ".join([name, "[OPTIONS]", *arguments])


def _declared(command: Any) -> Iterator[tuple[str, ParameterInfo, Any]]:
    """(name, what typer was told, type) of each parameter."""
    hints = get_type_hints(inspect.unwrap(command.callback))
    for name, parameter in inspect.signature(command.callback).parameters.items():
        yield name, parameter.default, hints[name]


def _spelt(name: str, info: ParameterInfo, kind: Any) -> str:
    if isinstance(info, OptionInfo):
        return ", ".join(info.param_decls or [f"--{name.replace('_', '-')}"])
    if info.metavar:
        return info.metavar
    return name.upper() if info.default is ... else f"[{name.upper()}]"


def _parameters(command: Any) -> str:
    rows = []
    for name, info, kind in _declared(command):
        spelling = f"`{_spelt(name, info, kind)}`"
        rows.append([spelling, _takes(info, kind), _tidy(info.help)])
    return _table(("option", "takes", "what"), rows)


def _takes(info: ParameterInfo, kind: Any) -> str:
    """What an option is given, with its limits."""
    words = [info.metavar if isinstance(info, OptionInfo) and info.metavar else _taken(kind)]
    if info.min is not None:
        words.append(f"at least {info.min}")
    if info.max is not None:
        words.append(f"at most {info.max}")
    return ", ".join(words)


def _taken(kind: Any) -> str:
    if get_origin(kind) is list:
        return f"{_taken(get_args(kind)[0])}, repeated"
    kinds = [inner for inner in get_args(kind) or [kind] if inner is not type(None)]
    return "nothing" if kinds == [bool] else " or ".join(map(_words_of, kinds))


# Errors -------------------------------------------------------------------------------------------


def errors_page() -> str:
    tree = re.search(r"OmbudError\n(?:[├│└].*\n)+", errors.__doc__ or "")
    words = [
        "# Errors",
        "A refusal, a hand-over or an empty search is an outcome, not an error.",
        f"```text\n{tree[0].rstrip() if tree else ''}\n```",
        _table(
            ("error", "exit code", "HTTP status", "worth retrying", "`type` of the problem"),
            _error_rows(),
        ),
        "A command prints `Error: `, the message and a hint to stderr; with `--json` it prints "
        '`{"error": {"type", "message", "hint"}}` to stdout.',
        "## Exit codes",
        _table(("code", "when"), _exit_codes()),
        "## HTTP statuses that are no error of ombud's own",
        "They come with `type` `about:blank`, or `urn:ombud:bad-request` for a request that cannot "
        "be read and `urn:ombud:unexpected` for a fault nobody foresaw.",
        _table(("status", "when"), _plain_statuses()),
    ]
    return "\n\n".join(words)


def error_classes() -> list[type[errors.OmbudError]]:
    """Every error, in the order of the page that defines them."""
    classes = []
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, errors.OmbudError):
            classes.append(value)
    return classes


def _error_rows() -> Rows:
    rows = []
    for error in error_classes():
        rows.append(
            [
                f"`{error.__name__}`",
                str(error.exit_code),
                str(error.status),
                "yes" if error.retryable else "",
                f"`{problem(error('')).type}`",
            ]
        )
    return rows


def _exit_codes() -> Rows:
    by_code: dict[int, list[str]] = {}
    for error in error_classes():
        by_code.setdefault(error.exit_code, []).append(f"`{error.__name__}`")
    others = {
        1: "; also documents that failed in a sync, lines that failed in a batch, "
        "a check of `ombud doctor`",
        2: "; also options that a command does not know",
    }
    rows = [["0", "it worked; a denial is an answer too"]]
    for code, names in sorted(by_code.items()):
        rows.append([str(code), ", ".join(names) + others.get(code, "")])
    rows.append([str(INTERRUPTED), "Ctrl-C"])
    return rows


def _plain_statuses() -> Rows:
    return [
        ["400", "the host name is not this machine's own, or the body is no JSON"],
        ["403", "a page of another site sent it"],
        ["404", "there is no such address"],
        ["405", "the address knows no such method"],
        ["413", "the body has more than 1,000,000 bytes"],
        ["422", "a field is missing, unknown or not understood"],
        [
            "500",
            "a fault nobody foresaw; the server's log says where, without the words of the error",
        ],
    ]


# Metrics ------------------------------------------------------------------------------------------


def metrics_page() -> str:
    rows = [[f"`{spelling(n, m)}`", m.what, m.unit, m.better] for n, m in sorted(METRICS.items())]
    return "\n\n".join(
        [
            "# Metrics",
            "`k` is a number of hits, such as `recall@8`; `1000w` the first 1000 words returned. "
            "A metric that cannot be computed for a case has no value there, and says why.",
            _table(("metric", "what it measures", "unit", "better"), rows),
        ]
    )


def spelling(name: str, measure: Measure) -> str:
    """How a metric is written, its cut-off included."""
    return {
        "none": name,
        "optional": f"{name}` or `{name}@k",
        "hits": f"{name}@k",
        "hits or words": f"{name}@k` or `{name}@1000w",
    }[measure.cutoff]


# Prompts ------------------------------------------------------------------------------------------

FILLED_BY = {
    "organisation": "`general.name`",
    "what": "what the rubric grades, in one line",
    "criteria": "the rubric's questions that lead to the grade",
    "levels": "its grades, each with what it means",
    "grades": "the same grades, without words",
    "example": "one of the grades",
    "edges": "what the rubric says of cases that are not plain",
    "examples": "its good and its poor example, each with grade and reason",
    "material": "what the rubric reads of question, reference, passages and answer, between tags",
    "matter": "the answer, or the reference, that is cut into statements",
    "statements": "the numbered statements",
    "passages": "the passages that the search found, numbered; of a test question those that it is "
    "made from",
    "about": "who the asker of a case with a goal is",
    "goal": "what they want",
    "conversation": "what was asked and answered so far",
    "wanted": "one of the sections `type-…`",
    "reader": "the audience of the persona who asks",
    "theme": "what a message is about that no document answers",
    "reference": "the reference answers of the case",
    "answer": "the answer's body, without markers",
    "marks": "how many marks are to be given",
    "date": "the day whose rules are asked for: `as_of`, else today in `general.timezone`",
    "audience": "`audience` of the persona",
    "connections": "paths of the graph, one triplet a line with the label of its passage; the "
    "section is left out where there are none",
    "country": "the asker's country, or `not given`",
    "roles": "the asker's roles, or `none`",
    "grade": "the asker's grade, or `not given`",
    "local": "passages of the asker's country, labelled L1, L2, …; mandatory ones are marked",
    "shared": "passages that apply everywhere, labelled G1, G2, …",
    "history": "up to six earlier messages of the conversation; the section is left out where "
    "there are none",
    "question": "the question, word for word",
    "claims": "the claims that could not be confirmed, by section `claim`",
    "claim": "the claim, word for word",
    "number": "its place in the answer, from 1",
    "labels": "labels of the passages that it cites",
    "problem": "why it could not be confirmed; or that the language is not the right one",
    "sentences": "the sentences that it was compared with, by section `sentence`",
    "label": "label of a passage",
    "text": "its sentence that is nearest to the claim",
    "style": "`density`, `style` and `vocabulary` of the persona",
    "tailoring": "`instructions` of the persona",
    "turn": "all other sections of the message",
    "words": "`length` of the persona",
    "rewrites": "`plan.rewrites`",
    "count": "how many passages there are",
}
"""Placeholder -> what the code puts there; a prompt with another one stops this program."""
SENT = {
    "complexity": "Router variant `zero-shot`: how many passages a question needs.",
    "compose": "The instructions of every answer that a chat model writes, in "
    "[components](../guides/asking.md#components).",
    "verify": "Role `verify`: whether passages say what claims mean.",
    "contradictions": "Asks in `ombud report gaps` which passages contradict each other (role "
    "`verify`).",
    "doctor": "What `ombud doctor --ask` sends to every model.",
    "entities": 'Asks which names in the graph are one thing, with `index.graph = "model"`.',
    "hyde": "Strategy `hyde`: a paragraph that would answer.",
    "judge": "Role `judge`: grades by rubrics, and statements held against passages "
    "([judges](../guides/quality.md#judges)). The sections `line-…` end a prompt where "
    '`lab.judge_form = "line"`.',
    "keywords": "Strategy `keywords`.",
    "listwise": "Reranker `listwise`: an order of numbered passages.",
    "memory": "The lab's baseline, `plan.k = 0`: the model without any document.",
    "multi": "Strategy `multi`: several search questions.",
    "pointwise": "Reranker `pointwise`: how relevant one passage is.",
    "question": "The message that goes with `compose`.",
    "reformulate": "Strategy `reformulate`: a more formal question.",
    "rewrite": "Strategy `rewrite`: a question that stands alone.",
    "situation": "The message that goes with the strategies: the question and what was said "
    "before.",
    "stepback": "Strategy `stepback`: the broader question.",
    "synthesise": "Role `synthesise`: a test question of a kind, in a style, from passages, and a "
    "second look at it (`ombud lab synth`); and the asker of cases with a goal.",
    "triplets": "Reads subject, predicate and object out of a passage, with "
    '`index.graph = "model"`.',
    "triage": "Whom a message is for, where a search asks a model but not `understand`.",
    "understand": "Strategy `understand`: all of the strategies' texts in one call.",
    "repair": "Added to that message, once, when claims fail their check and `plan.refine` is on.",
}


def prompts_page() -> str:
    """What each prompt is for and what it is filled with; the site shows their texts as well."""
    rows = []
    for prompt in shipped_prompts():
        link = f"[{prompt.name}](../../src/ombud/prompts/{prompt.name}.txt)"
        filled = ", ".join(f"`${name}`" for name in Template(prompt.text).get_identifiers())
        rows.append([link, SENT[prompt.name.partition("/")[0]], filled])
    placeholders = [[f"`${name}`", FILLED_BY[name]] for name in sorted(FILLED_BY)]
    return "\n\n".join(
        [
            *ABOUT_PROMPTS,
            _table(("prompt", "what it is for", "placeholders"), rows),
            "## Placeholders",
            _table(("placeholder", "filled with"), placeholders),
        ]
    )


def shipped_prompts() -> list[Prompt]:
    prompts = []
    for path in sorted(PROMPTS.glob("*/*.txt")):
        name = f"{path.parent.name}/{path.stem}"
        prompts.append(Prompt(name, path.read_text(encoding="utf-8")))
    return prompts


ABOUT_PROMPTS = (
    "# Prompts",
    "All words that are said to models, in `src/ombud/prompts/TASK/MODEL.txt`. The most "
    "specific file wins: for `openai:gpt-4.1-mini` that is `gpt-4.1-mini.txt`, then "
    "`gpt-4.1.txt`, `gpt.txt` and `default.txt`. A workspace may have "
    "[its own](../guides/operating.md#your-own-prompts). The digest of a prompt, which an "
    "answer's trace records, and its text are on the site that `make docs` builds.",
)


def full_prompts_page() -> str:
    words = [*ABOUT_PROMPTS]
    for prompt in shipped_prompts():
        rows = [[f"`${name}`", FILLED_BY[name]] for name in Template(prompt.text).get_identifiers()]
        purpose = SENT[prompt.name.partition("/")[0]]
        words += [f"## {prompt.name}", f"{purpose} Digest `{prompt.digest}`."]
        words += [
            _table(("placeholder", "filled with"), rows),
            f"```text\n{prompt.text.rstrip()}\n```",
        ]
    return "\n\n".join(words)


# The HTTP API -------------------------------------------------------------------------------------


def api_page() -> str:
    """Routes and shapes as tables; the site shows `full_api_page` in their place."""
    described = openapi()
    routes, own_statuses = [], []
    common = _common_statuses(described)
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            name = f"`{method.upper()} {path}`"
            what = _tidy(operation.get("description", "")).partition(". ")[0].rstrip(".")
            body = _content(operation["requestBody"]) if "requestBody" in operation else ""
            routes.append([name, what, body, _reply(operation)])
            for status, response in operation["responses"].items():
                told = (status, response.get("description", ""))
                if not status.startswith("2") and told not in common:
                    own_statuses.append([name, *told])
    words = [
        "# HTTP API",
        "Routes, what they take and what they give. The site that `make docs` builds has every "
        "parameter, status and field with what it means, and `/openapi.json` of a running server "
        "has the same for programs. [The guide](../guides/channels.md#the-http-api) shows "
        "examples.",
        "## Routes",
        _table(("route", "what it does", "body", "reply"), routes),
        "## Statuses",
        "Errors are a [Problem](#problem). Most routes have these:",
        _table(("status", "when"), sorted(common)),
        "Some have their own, or other reasons:",
        _table(("route", "status", "when"), own_statuses),
        "## Shapes",
        "Fields, with a star where one must be given.",
    ]
    for name, schema in sorted(described["components"]["schemas"].items()):
        needed = schema.get("required", ())
        fields = []
        for field, kind in schema.get("properties", {}).items():
            star = "\\*" if field in needed else ""
            fields.append(f"`{field}`{star} {_shape(kind)}")
        words += [f"### {name}", "; ".join(fields) or _shape(schema)]
    return "\n\n".join(words)


def _common_statuses(described: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Statuses that most routes share, each with its reason."""
    counted: Counter[tuple[str, str]] = Counter()
    routes = [one for operations in described["paths"].values() for one in operations.values()]
    for operation in routes:
        for status, response in operation["responses"].items():
            counted[status, response.get("description", "")] += not status.startswith("2")
    return {told for told, count in counted.items() if count > len(routes) / 2}


def _reply(operation: Mapping[str, Any]) -> str:
    """What a route gives where all is well."""
    replies = []
    for status, response in sorted(operation["responses"].items()):
        if status.startswith("2"):
            replies.append(_content(response) or status)
    return " or ".join(replies)


def full_api_page() -> str:
    """Every route with its parameters and statuses, every shape with what its fields mean."""
    described = openapi()
    words = [
        "# HTTP API",
        "The same description for programs is at `/openapi.json` of a running server. "
        "[The guide](../guides/channels.md#the-http-api) shows examples.",
        "## Routes",
    ]
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            words += _route(f"{method.upper()} {path}", operation)
    words.append("## Shapes")
    notes = _notes()
    for name, schema in sorted(described["components"]["schemas"].items()):
        words.append(f"### {name}")
        if "description" in schema:
            words.append(schema["description"])
        words.append(_table(("field", "type", "default", "what"), _fields(name, schema, notes)))
    return "\n\n".join(words)


def openapi() -> dict[str, Any]:
    """The description that a server gives of itself; the workspace it needs is empty and soon
    gone."""
    with tempfile.TemporaryDirectory() as folder:
        return create_app(Workspace(Path(folder))).openapi()


def _route(name: str, operation: Mapping[str, Any]) -> list[str]:
    words = [f"### {name}", _tidy(operation.get("description", ""))]
    given = []
    for parameter in operation.get("parameters", ()):
        given.append([f"`{parameter['name']}`", parameter["in"], _shape(parameter["schema"])])
    if given:
        words.append(_table(("parameter", "in", "type"), given))
    if "requestBody" in operation:
        words.append(f"Body: {_content(operation['requestBody'])}.")
    rows = []
    for status, response in sorted(operation["responses"].items()):
        rows.append([status, _content(response), response.get("description", "")])
    words.append(_table(("status", "body", "when"), rows))
    return words


def _content(described: Mapping[str, Any]) -> str:
    kinds = described.get("content", {})
    shapes = []
    for media, content in kinds.items():
        is_text = content["schema"] == {"type": "string"}
        shapes.append(f"`{media}`" if is_text else _shape(content["schema"]))
    return " or ".join(shapes)


def _fields(name: str, schema: Mapping[str, Any], notes: Mapping[tuple[str, str], str]) -> Rows:
    needed = schema.get("required", [])
    rows = []
    for field, kind in schema.get("properties", {}).items():
        default = ""
        if field in needed:
            default = "(required)"
        elif "default" in kind and "$ref" not in kind:
            default = f"`{json.dumps(kind['default'], ensure_ascii=False)}`"
        what = kind.get("description") or notes.get((name, field), "")
        rows.append([f"`{field}`", _shape(kind), default, _tidy(what)])
    return rows


def _shape(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_shape, schema["anyOf"])))
    if "enum" in schema or "const" in schema:
        return _values(schema.get("enum", [schema.get("const")]))
    if "prefixItems" in schema:
        return f"[{', '.join(map(_shape, schema['prefixItems']))}]"
    if schema.get("type") == "array":
        return f"list of {_shape(schema['items'])}"
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        return f"object of {_shape(inner)}" if isinstance(inner, dict) and inner else "object"
    return _scalar(schema)


def _values(allowed: Sequence[Any]) -> str:
    return " or ".join(f"`{json.dumps(value)}`" for value in allowed)


_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
    "pattern": "like `{}`",
}


def _scalar(schema: Mapping[str, Any]) -> str:
    words = [str(schema.get("format") or schema.get("type") or "any")]
    for key, form in _LIMITS.items():
        if key in schema:
            words.append(form.format(schema[key]))
    return ", ".join(words)


def _notes() -> dict[tuple[str, str], str]:
    """(class, field) -> the words that stand under the field in the code."""
    paths = sorted((CODE / "types").glob("*.py"))
    paths += [CODE / "web" / "shapes.py", CODE / "web" / "problems.py"]
    notes: dict[tuple[str, str], str] = {}
    for path in paths:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                for field, text in _documented(node):
                    notes[node.name, field] = text
    return notes


def _documented(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(node.body):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            yield field.target.id, str(below.value.value)


# Markdown -----------------------------------------------------------------------------------------


def _table(head: Sequence[str], rows: Rows) -> str:
    if not rows:
        return ""
    lines = [head, ["---"] * len(head)]
    for row in rows:
        lines.append(list(map(_cell, row)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def _tidy(text: str | None) -> str:
    return " ".join((text or "").split())


if __name__ == "__main__":
    sys.exit(main())

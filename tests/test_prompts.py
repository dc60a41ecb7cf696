"""Prompts: the most specific file wins, and values are only values."""

from hashlib import sha256
from pathlib import Path

import pytest

from ombud.errors import UnknownName
from ombud.prompts import HERE, Prompt, digests, load, load_sections, problems, variants

TASKS = sorted(folder.name for folder in HERE.iterdir() if (folder / "default.txt").is_file())
VALUES = (
    "organisation", "date", "country", "roles", "grade", "local", "shared", "history", "question",
    "rewrites", "count", "audience", "tailoring", "words", "style", "connections", "turn", "precedence",
    "counting", "other", "first", "second", "about", "claims", "claim", "number", "labels", "problem",
    "sentences", "label", "text", "what", "criteria", "levels", "grades", "example", "edges",
    "examples", "material", "matter", "statements", "passages", "reference", "answer", "marks", "wanted", "reader", "theme",
    "goal", "conversation",
)  # fmt: skip
"""What is put into prompts anywhere."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "compose").mkdir()
    for stem in ("gpt", "gpt-4.1", "gpt-4.1-mini", "llama3"):
        (tmp_path / "compose" / f"{stem}.txt").write_text(f"{stem} says $organisation")
    return tmp_path


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai:gpt-4.1-mini", "compose/gpt-4.1-mini"),
        ("gpt-4.1-mini-2025-04-14", "compose/gpt-4.1-mini"),
        ("openai:gpt-4.1", "compose/gpt-4.1"),
        ("openai:gpt-4.1-nano", "compose/gpt-4.1"),
        ("openai:gpt-5", "compose/gpt"),
        ("openai:llama3:8b", "compose/llama3"),
        ("openai:o3", "compose/default"),
        ("anthropic/gpt", "compose/gpt"),
        ("vllm:meta-llama/GPT-4.1-Mini", "compose/gpt-4.1-mini"),
        ("bedrock:us.some-maker.gpt5-2027", "compose/gpt"),
        ("openai:gptx", "compose/default"),
        ("", "compose/default"),
        ("openai:", "compose/default"),
    ],
)
def test_the_most_specific_file_wins(folder: Path, model: str, name: str) -> None:
    assert load("compose", model, folder).name == name


def test_a_model_never_leaves_the_folder_of_its_task(folder: Path) -> None:
    (folder / "secret.txt").write_text("secret")
    assert load("compose", "../secret", folder).name == "compose/default"


def test_without_an_override_the_shipped_words_are_taken(tmp_path: Path) -> None:
    shipped = (HERE / "compose" / "default.txt").read_text(encoding="utf-8")
    assert load("compose", "openai:o3", tmp_path) == Prompt("compose/default", shipped)


def test_what_is_edited_counts_at_once(folder: Path) -> None:
    before = load("compose", "openai:gpt-5", folder)
    (folder / "compose" / "gpt.txt").write_text("Speak plainly for $organisation.")
    after = load("compose", "openai:gpt-5", folder)
    assert after.fill(organisation="Acme") == "Speak plainly for Acme."
    assert after.digest != before.digest
    (folder / "compose" / "gpt.txt").unlink()
    assert load("compose", "openai:gpt-5", folder) == load("compose", "openai:gpt-5")


WRONG = [
    (
        "Answer for $organization.",
        "`compose` has no placeholder $organization. Did you mean `organisation`?",
    ),
    ("Answer $Organisation.", "`compose` has no placeholder $Organisation."),
    ("Pay up to $ 50.", "a $ stands before no placeholder; write $$ for a dollar sign."),
    ("Pay up to $50.", "a $ stands before no placeholder"),
    (" \n", "it is empty."),
    (b"\xff\xfe", "it is not UTF-8 text."),
]


@pytest.mark.parametrize(("text", "why"), WRONG)
def test_a_wrong_file_of_the_workspace_is_passed_over(
    tmp_path: Path, text: str | bytes, why: str
) -> None:
    own = tmp_path / "prompts"
    (own / "compose").mkdir(parents=True)
    (own / "compose" / "default.txt").write_bytes(text.encode() if isinstance(text, str) else text)
    found = load("compose", "openai:o3", own)
    assert found._replace(note="") == load("compose")
    assert found.note.startswith(f"prompts/compose/default.txt is not used: {why}")
    assert problems(own) == [found.note]
    assert digests(own) == digests()


def test_a_file_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "compose" / "default.txt").mkdir(parents=True)
    found = load("compose", "", tmp_path)
    assert found.text == load("compose").text
    assert "cannot be read (Is a directory)" in found.note


def test_the_next_file_that_can_be_used_takes_the_place_of_a_wrong_one(folder: Path) -> None:
    (folder / "compose" / "gpt-4.1.txt").write_text("$wrong")
    found = load("compose", "openai:gpt-4.1", folder)
    assert found.text == "gpt says $organisation"
    assert "gpt-4.1.txt is not used" in found.note


def test_a_prompt_that_leaves_placeholders_out_is_right(tmp_path: Path) -> None:
    (tmp_path / "question").mkdir()
    (tmp_path / "question" / "default.txt").write_text("$question costs $$5")
    found = load("question", "", tmp_path)
    assert found.note == ""
    assert found.fill(question="Lunch", grade="7") == "Lunch costs $5"


def test_a_folder_that_is_no_task_is_a_problem(folder: Path) -> None:
    (folder / "compse").mkdir()
    (folder / "compse" / "default.txt").write_text("Hello")
    assert len(problems(folder)) == 1
    assert problems(folder)[0].endswith("there is no task `compse`. Did you mean `compose`?")


def test_without_a_folder_there_is_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path / "prompts") == []
    assert digests(tmp_path / "prompts") == digests()


def test_digests_name_what_is_sent(folder: Path) -> None:
    (folder / "compose" / "default.txt").write_text("abc")
    found = digests(folder)
    assert found["compose/default"] == "ba7816bf8f01"  # printf abc | sha256sum
    assert set(found) - set(digests()) == {
        f"compose/{stem}" for stem in ("gpt", "gpt-4.1-mini", "llama3")
    }
    assert found["compose/gpt-4.1"] != digests()["compose/gpt-4.1"]


def test_an_unknown_task_lists_the_known() -> None:
    with pytest.raises(UnknownName, match="No prompt is called `compse`") as wrong:
        load("compse")
    assert wrong.value.hint == f"Known: {', '.join(TASKS)}."
    assert "compose" in wrong.value.hint


def test_values_are_never_read_as_templates() -> None:
    assert Prompt("x", "Hello $name.").fill(name="$other ${more}") == "Hello $other ${more}."


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError, match="name"):
        Prompt("x", "Hello $name.").fill(other="x")


def test_the_digest_is_that_of_the_text() -> None:
    # printf abc | sha256sum
    assert Prompt("x", "abc").digest == "ba7816bf8f01"
    assert (
        load("compose").digest
        == sha256((HERE / "compose" / "default.txt").read_bytes()).hexdigest()[:12]
    )


def test_every_shipped_prompt_has_its_digest() -> None:
    models = ("gpt-4.1", "gpt-4o", "claude", "mistral", "command", "llama")
    own = {"compose/" + model for model in models} | {
        f"question/{m}" for m in models if m != "gpt-4o"
    }
    assert set(digests()) == {f"{task}/default" for task in TASKS} | own
    assert digests()["compose/default"] == load("compose").digest


@pytest.mark.parametrize("task", TASKS)
def test_every_shipped_prompt_can_be_filled(task: str) -> None:
    filled = load(task).fill(**dict.fromkeys(VALUES, "VALUE"))
    assert "$" not in filled
    assert ("VALUE" in filled) == (task not in {"doctor", "complexity"})


# Sections -----------------------------------------------------------------------------------------

PARTS = "[role]\nYou help $organisation.\n\n[format]\nClaims.\nMore claims.\n"


def test_a_file_may_hold_only_the_sections_that_differ(tmp_path: Path) -> None:
    (tmp_path / "compose").mkdir()
    (tmp_path / "compose" / "claude.txt").write_text("[format]\nXML.\n")
    shipped, own = (
        load_sections("compose", "anthropic:claude-x"),
        load_sections("compose", "anthropic:claude-x", tmp_path),
    )
    assert own.words == shipped.words | {"format": "XML."}
    assert list(own.words) == list(load_sections("compose").words)
    assert [file.name for file in own.files] == [
        "compose/claude",
        "compose/claude as shipped",
        "compose/default",
    ]
    assert own.files[0].digest == Prompt("", "[format]\nXML.\n").digest


def test_a_file_without_sections_is_the_whole_prompt(tmp_path: Path) -> None:
    (tmp_path / "compose").mkdir()
    (tmp_path / "compose" / "default.txt").write_text("Answer for $organisation.\n")
    found = load_sections("compose", "openai:gpt-4.1", tmp_path)
    assert found.words == {"": "Answer for $organisation."}
    assert [file.name for file in found.files] == ["compose/default"]


def test_a_section_nobody_knows_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "compose").mkdir()
    (tmp_path / "compose" / "default.txt").write_text("[rol]\nYou help.\n")
    found = load_sections("compose", "openai:o3", tmp_path)
    assert found._replace(note="") == load_sections("compose", "openai:o3")
    assert found.note.endswith("`compose` has no section [rol]. Did you mean `role`?")
    assert problems(tmp_path) == [found.note]


def test_brackets_in_a_line_are_no_section(tmp_path: Path) -> None:
    (tmp_path / "compose").mkdir()
    (tmp_path / "compose" / "default.txt").write_text(
        "[role] is a word, and so is\n [format]\n[L1]\n[INST]\n"
    )
    assert list(load_sections("compose", "", tmp_path).words) == [""]


@pytest.mark.parametrize("task", ["compose", "question"])
@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-4o", "claude", "mistral", "command", "llama"])
def test_every_variant_has_all_sections_and_changes_one(task: str, model: str) -> None:
    plain, own = load_sections(task).words, load_sections(task, model).words
    assert list(own) == list(plain)
    assert all(own.values())
    if model in variants(task):
        assert own != plain


@pytest.mark.parametrize("model", ["", *variants("compose")])
def test_every_model_is_asked_for_quotes_sums_and_conditions(model: str) -> None:
    rules = load_sections("compose", model).words["format"]
    assert all(
        f"`{field}`" in rules for field in ("passages", "quotes", "conditions", "suggestions")
    )
    assert "write the sum out" in rules
    assert "no sums" not in rules


def test_a_model_is_not_told_that_being_ill_is_sensitive() -> None:
    said = load("understand").text.partition("triage:")[2]
    assert "ill" not in said.partition(";")[0].split()
    assert "being ill" in said.partition('are "ordinary"')[0]

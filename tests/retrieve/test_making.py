"""Strategies on a model that says what it is told: order, concurrency, fall-backs, odd output,
deadlines."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic_ai import ModelMessage, ModelRequest, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from models.replaying import read_recorded, replay
from ombud.errors import UnknownName
from ombud.index import Engine, Filter
from ombud.models import Chat, open_chat
from ombud.retrieve import SearchParts, read_glossary, search
from ombud.retrieve.model import StrategyModel
from ombud.retrieve.strategies import making
from ombud.retrieve.strategies.glossary import Glossary
from ombud.settings import ModelSettings
from ombud.types import Message, Person, Plan, Query, Question
from retrieve.test_searching import WORDS, Told

ACB = Question(text="How does misconduct affect my ACB?", asker=Person(country="GB"))
UNDERSTOOD = {
    "standalone": "How does misconduct affect my Annual Cash Bonus?",
    "passage": "Employees under a disciplinary sanction are not eligible for the bonus.",
    "keywords": ["annual cash bonus", "misconduct", "eligibility"],
    "contexts": 2,
    "triage": "ordinary",
}
SAYS: dict[str, Any] = {
    "understand": UNDERSTOOD,
    "keywords": {"keywords": ["bonus", "sanction"]},
    "hyde": {"passage": "A bonus is forfeited after misconduct."},
    "stepback": {"question": "What is the bonus policy?"},
    "rewrite": {"question": "Does misconduct reduce the Annual Cash Bonus?"},
    "reformulate": {"question": "In what way does a sanction bear on variable pay?"},
    "multi": {
        "questions": ["bonus eligibility", "misconduct sanctions", "bonus eligibility", "clawback"]
    },
}


class Teller:
    """A model that answers each task as told; what is no text is raised or called."""

    def __init__(self, says: Mapping[str, Any] = SAYS) -> None:
        self.says, self.tasks, self.running, self.most = dict(says), list[str](), 0, 0
        self.prompts: list[str] = []

    @property
    def chat(self) -> Chat:
        return Chat("test:told", FunctionModel(self._say))

    async def _say(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        form = info.model_request_parameters.output_object
        assert form
        fields = set(form.json_schema["properties"])
        task = task_of(fields, info.instructions or "")
        self.tasks.append(task)
        first = messages[0]
        assert isinstance(first, ModelRequest)
        self.prompts.append("\n".join(str(getattr(part, "content", "")) for part in first.parts))
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            said = self.says[task]
            if isinstance(said, Exception):
                raise said
            if callable(said):
                said = await said()
        finally:
            self.running -= 1
        return ModelResponse(parts=[TextPart(said if isinstance(said, str) else json.dumps(said))])


def task_of(fields: set[str], instructions: str) -> str:
    if "standalone" in fields:
        return "understand"
    by_field = {"keywords": "keywords", "passage": "hyde", "questions": "multi"}
    for field, task in by_field.items():
        if field in fields:
            return task
    by_word = {"step back": "stepback", "Reformulate": "reformulate", "Rewrite": "rewrite"}
    return next(task for word, task in by_word.items() if word in instructions)


def look(teller: Teller | None, plan: Plan, question: Question = ACB, **more: Any) -> Any:
    chat = teller.chat if teller else None
    glossary = more.pop("glossary", Glossary())
    engine = cast(Engine, Told(sparse=WORDS))
    index = SearchParts(engine, None, glossary, chat, **more)
    return asyncio.run(search(question, plan, Filter(countries=("GB",)), index))


def plan(*strategies: str, **more: Any) -> Plan:
    """Of these strategies alone, unless `own_words` is given."""
    return Plan(strategies=strategies, **{"own_words": False, **more})


def test_the_question_is_searched_for_beside_what_a_model_writes() -> None:
    queries = look(Teller(), plan("keywords", own_words=True)).queries
    assert [query.strategy for query in queries] == ["keywords", "own words"]
    assert ACB.text in queries[1].text
    both = plan("standard", "keywords", strategy_mode="all", own_words=True)
    assert [q.strategy for q in look(Teller(), both).queries] == ["standard", "keywords"]


@pytest.mark.parametrize(
    ("name", "text", "passage"),
    [
        ("keywords", "bonus, sanction", "bonus, sanction"),
        (
            "hyde",
            "A bonus is forfeited after misconduct.",
            "A bonus is forfeited after misconduct.",
        ),
        (
            "stepback",
            f"{ACB.text}\nWhat is the bonus policy?",
            f"{ACB.text}\nWhat is the bonus policy?",
        ),
        ("rewrite", SAYS["rewrite"]["question"], SAYS["rewrite"]["question"]),
        ("reformulate", SAYS["reformulate"]["question"], SAYS["reformulate"]["question"]),
    ],
)
def test_each_strategy_searches_with_its_own_text(name: str, text: str, passage: str) -> None:
    teller = Teller()
    found = look(teller, plan(name))
    made_up = name == "hyde"
    query = Query(strategy=name, text=text, passage=passage, hypothetical=made_up)
    assert found.queries == (query,)
    assert teller.tasks == [name]
    assert found.degraded == ("dense: no embedding model, searched by words only",)
    assert ACB.text in teller.prompts[0]


def test_one_call_gives_one_text_for_words_and_vectors_of_paragraph_and_question() -> None:
    passage, alone = UNDERSTOOD["passage"], UNDERSTOOD["standalone"]
    words = f"{alone}\nannual cash bonus\nmisconduct\neligibility\n{passage}"
    found = look(Teller(), plan("understand"))
    assert [(q.text, q.passage) for q in found.queries] == [(words, passage), ("", alone)]
    bare = Teller({"understand": UNDERSTOOD | {"passage": " ", "keywords": []}})
    assert [(q.text, q.passage) for q in look(bare, plan("understand")).queries] == [(alone, alone)]
    empty = Teller({"understand": UNDERSTOOD | {"standalone": ""}})
    assert look(empty, plan("understand")).queries[0].strategy == "standard"


def test_each_passage_that_is_needed_is_searched_for_by_a_question_of_its_own() -> None:
    subquestions = ["Who gets the bonus?", "What is misconduct?"]
    several = UNDERSTOOD | {"contexts": 2, "subquestions": subquestions}
    found = look(Teller({"understand": several}), plan("understand"))
    assert [query.passage for query in found.queries[2:]] == subquestions
    assert [query.text for query in found.queries[2:]] == subquestions
    one = UNDERSTOOD | {"contexts": 1, "subquestions": subquestions}
    assert len(look(Teller({"understand": one}), plan("understand")).queries) == 2


def test_several_rewrites_are_one_text_for_words_and_one_vector_each() -> None:
    found = look(Teller(), plan("multi", rewrites=2))
    assert [(q.text, q.passage) for q in found.queries] == [
        ("bonus eligibility\nmisconduct sanctions", "bonus eligibility"),
        ("", "misconduct sanctions"),
    ]


@pytest.mark.parametrize(
    ("side", "text", "passage"),
    [("dense", ACB.text, SAYS["hyde"]["passage"]), ("sparse", SAYS["hyde"]["passage"], ACB.text)],
)
def test_the_hypothetical_paragraph_can_serve_one_leg(side: str, text: str, passage: str) -> None:
    alone = {"own_words": False}
    chosen = Plan.model_validate({"strategies": ["hyde"], "hyde_for": side, **alone})
    (query,) = look(Teller(), chosen).queries
    assert (query.text, query.passage) == (text, passage)


def test_the_first_that_works_answers_and_the_failed_are_named() -> None:
    teller = Teller(SAYS | {"hyde": "no form at all", "stepback": {"question": "  "}})
    found = look(teller, plan("hyde", "stepback", "rewrite", "standard"))
    assert [q.strategy for q in found.queries] == ["rewrite"]
    unusable = "The model `test:told` gave no usable answer: its reply was no valid JSON"
    assert found.degraded[:2] == (
        f"strategy: hyde failed ({unusable}), searched without it",
        "strategy: stepback gave nothing usable, searched without it",
    )
    assert teller.tasks == [
        "hyde",
        "hyde",
        "stepback",
        "rewrite",
    ]  # a reply that fits no form is asked for once more


@pytest.mark.parametrize(
    "name", ["understand", "keywords", "hyde", "stepback", "rewrite", "reformulate", "multi"]
)
@pytest.mark.parametrize("mode", ["first", "all"])
def test_what_fails_falls_back_to_the_question_itself(name: str, mode: Any) -> None:
    for teller in (None, Teller({name: "I cannot do that."})):
        found = look(teller, plan(name, strategy_mode=mode))
        assert [(q.strategy, q.passage) for q in found.queries] == [("standard", ACB.text)]
        assert found.degraded[0].startswith(f"strategy: {name} failed")
        assert found.evidence.hits


def test_a_model_that_says_nothing_in_time_costs_its_deadline_and_no_answer() -> None:
    async def never() -> Any:
        await asyncio.Event().wait()

    found = look(Teller({"understand": never}), plan("understand"), seconds=0.05)
    assert [q.strategy for q in found.queries] == ["standard"]
    assert found.degraded[0].startswith("strategy: understand failed (")
    assert "no answer within" in found.degraded[0]


def test_all_run_together_and_one_call_is_enough_where_others_are_views_of_it() -> None:
    both = asyncio.Barrier(2)

    async def meet() -> Any:
        await both.wait()
        return SAYS["keywords"]

    async def meet_too() -> Any:
        await both.wait()
        return SAYS["hyde"]

    apart = Teller(SAYS | {"keywords": meet, "hyde": meet_too})
    found = look(apart, plan("keywords", "hyde", strategy_mode="all"), seconds=5)
    assert [q.strategy for q in found.queries] == ["keywords", "hyde"]
    assert sorted(apart.tasks) == ["hyde", "keywords"]

    together = Teller()
    names = ("understand", "keywords", "hyde", "rewrite", "standard")
    found = look(together, plan(*names, strategy_mode="all"))
    assert together.tasks == ["understand"]
    assert [q.strategy for q in found.queries] == ["understand", *names]
    assert found.queries[3].passage == UNDERSTOOD["passage"]
    assert found.queries[4].passage == UNDERSTOOD["standalone"]


def test_with_a_model_and_no_strategy_named_one_call_understands_the_question() -> None:
    teller = Teller()
    found = look(teller, Plan())
    assert teller.tasks == ["understand"]
    assert found.understood.contexts == 2
    assert (found.spent.model, found.spent.tokens_out > 0) == ("test:told", True)
    assert set(found.spent.prompts) == {"understand/default", "situation/default"}
    assert [q.strategy for q in look(None, Plan()).queries] == ["standard"]
    assert look(None, Plan()).degraded == ("dense: no embedding model, searched by words only",)


def test_an_unknown_strategy_lists_the_known() -> None:
    with pytest.raises(UnknownName, match="`hide`") as wrong:
        look(None, plan("standard", "hide"))
    for name in ("hyde", "understand", "standard"):
        assert name in wrong.value.hint


def test_what_a_model_writes_is_cut_and_keywords_are_few() -> None:
    many = {"keywords": [f"word {n}" for n in range(99)] + [" ", "word 1"]}
    (query,) = look(Teller({"keywords": many}), plan("keywords")).queries
    assert query.text.count(",") == 11
    (query,) = look(Teller({"hyde": {"passage": "long " * 9000}}), plan("hyde")).queries
    assert len(query.text) == 3000


def test_earlier_turns_and_the_country_reach_the_model_and_long_ones_are_cut() -> None:
    history = (
        Message(role="user", content="x" * 9000),
        Message(role="assistant", content="Ten days."),
    )
    teller = Teller()
    look(teller, plan("rewrite"), ACB.model_copy(update={"history": history}))
    assert "assistant: Ten days." in teller.prompts[0]
    assert "country: GB" in teller.prompts[0]
    assert len(teller.prompts[0]) < 3000


def test_abbreviations_of_the_house_are_spelt_out(tmp_path: Path) -> None:
    file = tmp_path / "glossary.csv"
    file.write_text("abbreviation,expansion,country\nACB,Annual Cash Bonus,\n", encoding="utf-8")
    assert (
        "Annual Cash Bonus"
        in look(None, plan("standard"), glossary=read_glossary(file)).queries[0].text
    )


RECORDED = Path(__file__).parents[1] / "data" / "recorded"


def test_recorded_texts_come_back_over_http_by_question_and_role() -> None:
    recorded = read_recorded(RECORDED)
    asked, said = next((q, s) for q, s in recorded.items() if len(s["multi"]) >= 3)
    with replay(recorded) as server:
        chat = open_chat(
            ModelSettings(embedder="none", chat="openai:recorded", base_url=server.url)
        )
        assert chat
        wanted: dict[str, Callable[[], Any]] = {
            "understand": lambda: said["understand"]["passage"],
            "keywords": lambda: ", ".join(said["keywords"]),
            "hyde": lambda: " ".join(said["hyde"].split()),
            "rewrite": lambda: said["rewrite"],
            "reformulate": lambda: said["reformulate"],
            "multi": lambda: said["multi"][0],
        }
        for name, passage in wanted.items():
            engine = cast(Engine, Told(sparse=WORDS))
            index = SearchParts(engine, None, Glossary(), chat)
            found = asyncio.run(search(Question(text=asked), plan(name), Filter(), index))
            assert (found.queries[0].strategy, found.queries[0].passage) == (name, passage())
        unknown = Question(text="A question that nobody recorded")
        found = asyncio.run(search(unknown, plan("hyde"), Filter(), index))
        assert [q.strategy for q in found.queries] == ["standard"]
    assert [role for role, _ in server.asked][:-1] == list(wanted)


async def _falls_over(*_: Any) -> Any:
    raise RuntimeError("of somebody else")


async def _gives_rubbish(*_: Any) -> Any:
    return [1, "x"]


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        (_falls_over, "strategy: odd failed (RuntimeError), searched without it"),
        (_gives_rubbish, "strategy: odd gave nothing usable, searched without it"),
    ],
)
def test_a_strategy_of_a_package_that_fails_costs_no_question(
    strategy: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = making.strategy_of
    monkeypatch.setattr(
        making, "strategy_of", lambda name: strategy if name == "odd" else shipped(name)
    )
    model = StrategyModel(None, Plan(), "us", 5, None)
    found = asyncio.run(
        making.make_queries(Question(text="bonus"), plan("odd"), model, Glossary(()))
    )
    assert [query.strategy for query in found.queries] == ["standard"]
    assert found.degraded == (said,)

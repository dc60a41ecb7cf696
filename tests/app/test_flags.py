"""A flag that names what does not exist is refused, in every layer."""

import pytest

from app.conftest import Open
from ombud.app.flags import check_flags
from ombud.errors import BadSetting

PERSONAS = ("employee", "manager")


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("[plan]\nstrategies = ['hdye']", "plan: No strategy is called `hdye`.", "hyde"),
        (
            "[country.GB.plan]\nstrategies = ['hyde', 'stepbak']",
            "country.GB.plan: No strategy",
            "stepback",
        ),
        (
            "[experiment.x]\nshare = 0.1\nplan = {strategies = ['mult']}",
            "experiment.x.plan: No strategy",
            "multi",
        ),
        (
            "[experiment.x]\nshare = 0.1\nplan = {persona = 'boss'}",
            "experiment.x.plan: No persona",
            "manager",
        ),
        (
            "[experiment.x]\nshare = 0\nplan = {reranker = 'mrm'}",
            "experiment.x.plan: No reranker is called `mrm`",
            "",
        ),
        ("[plan]\nweights = {sprase = 1}", "plan: No leg is called `sprase`", "sparse"),
        (
            "[persona.manger.plan]\nk = 3",
            "[persona.manger]: no persona is called that.",
            "`manager`",
        ),
    ],
)
def test_what_does_not_exist_is_named(open_home: Open, text: str, said: str, hint: str) -> None:
    with pytest.raises(BadSetting) as wrong:
        check_flags(open_home(text).settings, PERSONAS)
    assert str(wrong.value).startswith(said)
    assert hint in wrong.value.hint


def test_what_exists_passes(open_home: Open) -> None:
    text = "[plan]\nstrategies = ['hyde']\n[persona.manager.plan]\nk = 3\n[country.GB.plan]\ngraph = false\n"
    check_flags(open_home(text).settings, PERSONAS)

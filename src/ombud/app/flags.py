"""Checks of flags that settings alone cannot do: whether their strategies, rerankers and personas
exist."""

from collections.abc import Collection
from pathlib import Path

from ombud.answer import check_components
from ombud.errors import BadSetting, UnknownName
from ombud.retrieve import check_plan
from ombud.settings import Settings, check_plans, nearest
from ombud.types import Plan

PROMPTS = "prompts"
"""Folder of a workspace with its own prompts."""


def check_flags(settings: Settings, personas: Collection[str], prompts: Path | None = None) -> None:
    """Check every layer of the plan. Raises BadSetting if it names something that does not
    exist."""
    for name in settings.persona:
        if name not in personas:
            raise BadSetting(
                f"[persona.{name}]: no persona is called that.", hint=nearest(name, personas)
            )

    def check(plan: Plan) -> None:
        if plan.persona not in personas:
            raise UnknownName(
                f"No persona is called `{plan.persona}`.", hint=nearest(plan.persona, personas)
            )
        check_components(plan.components, prompts)
        check_plan(plan)

    check_plans(settings, check)

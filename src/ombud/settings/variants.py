"""Which plan a person's question gets: the layers of `ombud.toml`, and the experiments that the
person is in."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple, get_args

from ombud.errors import BadSetting, OmbudError
from ombud.settings.loading import Settings
from ombud.settings.plans import merge_plan
from ombud.settings.sections import Experiment, PlanOverlay
from ombud.types import Parameter, Person, Plan


class Planned(NamedTuple):
    plan: Plan
    variant: str
    """Names of the person's experiments in the order of the file, joined by `+`; empty = none."""


def plan_for(
    settings: Settings,
    person: Person,
    request: Mapping[str, Any] | None = None,
    *,
    served: bool = True,
) -> Planned:
    """Merge the layers of a plan, weakest first: defaults, [plan], [country.XX.plan],
    [persona.NAME.plan], [experiment.NAME.plan], the request. Raises BadSetting for a request that
    is no plan, or that people may not use.

    A preset is expanded in the layer that names it, under that layer's own fields. What the request
    sets is taken out of `adaptive`, because adaptation comes between experiments and request. The
    persona is the person's own, whatever `persona` a layer sets."""
    requested = request or {}
    named: dict[str, Experiment] = {}
    for name, experiment in settings.experiment.items():
        if is_in(name, experiment, person):
            named[name] = experiment
    plan = merge_plan(
        settings.plan.model_dump(include=settings.plan.model_fields_set),
        settings.country.get(person.country or "", PlanOverlay()).plan,
        settings.persona.get(person.persona, PlanOverlay()).plan,
        *(experiment.plan for experiment in named.values()),
        requested,
        served=served,
    )
    return Planned(_without_adapting(plan, requested), "+".join(named))


def _without_adapting(plan: Plan, requested: Collection[str]) -> Plan:
    """Return the plan without adapting the requested fields."""
    adaptive = plan.adaptive
    parameters: tuple[Parameter, ...] = get_args(Parameter)
    if not adaptive or not set(parameters).intersection(requested):
        return plan
    left: tuple[Parameter, ...] | dict[Parameter, tuple[int, ...]]
    if isinstance(adaptive, dict):
        left = {name: values for name, values in adaptive.items() if name not in requested}
    else:
        names = parameters if isinstance(adaptive, bool) else adaptive
        left = tuple(name for name in names if name not in requested)
    return plan.model_copy(update={"adaptive": left})


def is_in(name: str, experiment: Experiment, person: Person) -> bool:
    """Tell whether sha256(name + person id), as a share of all 2**256, is below the experiment's
    share. People stay on their side while the share changes, and experiments divide people
    independently; nobody without an id takes part."""
    if experiment.off or not person.id:
        return False
    if experiment.countries and person.country not in experiment.countries:
        return False
    key = (name + person.id).encode("utf-8", "surrogatepass")
    place = int.from_bytes(sha256(key).digest(), "big")
    # Exact: a float times a power of two, and an int beside it.
    return place < math.ldexp(experiment.share, 256)


def check_plans(settings: Settings, check: Callable[[Plan], None]) -> None:
    """Let `check` see a plan of every layer that people can meet; raises BadSetting naming the
    layer it refuses."""
    for where, plan in _layers(settings):
        try:
            check(plan)
        except OmbudError as wrong:
            raise BadSetting(f"{where}: {wrong}", hint=wrong.hint) from wrong


def _layers(settings: Settings) -> Iterator[tuple[str, Plan]]:
    # Each field of a person's plan comes from one layer, so looking at one at a time sees them all.
    own = settings.plan.model_dump(include=settings.plan.model_fields_set)
    yield "plan", merge_plan(own)
    overlays: dict[str, Mapping[str, PlanOverlay]] = {
        "country": settings.country,
        "persona": settings.persona,
        "experiment": settings.experiment,
    }
    for kind, named in overlays.items():
        for name, overlay in named.items():
            yield f"{kind}.{name}.plan", merge_plan(own, overlay.plan)

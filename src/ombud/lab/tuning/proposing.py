"""Which settings to try next: Optuna's sampler, asked so that no settings are tried twice."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from random import Random
from typing import TYPE_CHECKING, Any

from ombud.lab.runs.sweeping import Axes, Cell, cell_label, check_cell

if TYPE_CHECKING:
    import optuna

STARTUP = 10
"""Proposals at random before the sampler learns: Optuna's own default."""
LONG = 12
"""Numbers from which on an axis is a scale for the sampler: of fewer it sees each by itself, which
found planted optima sooner."""
ENUMERATED = 10_000
"""Cells that are looked through for one that is left."""
REPEATED = 50
"""Proposals in a row that are known already, after which one is drawn among the others."""


class Proposer:
    """Settings one after the other, each of the axes' cells at most once.

    signs: of each objective, 1 where more is better, else -1. The same seed and the same values
    told give the same proposals."""

    def __init__(self, axes: Axes, signs: Sequence[int], seed: int) -> None:
        library = import_optuna()
        directions = ["maximize" if sign > 0 else "minimize" for sign in signs]
        sampler = library.samplers.TPESampler(
            seed=seed, multivariate=True, n_startup_trials=STARTUP
        )
        self._axes = axes
        self._study = library.create_study(sampler=sampler, directions=directions)
        self._distributions: dict[str, Any] = {}
        for key, values in axes.items():
            last = len(values) - 1
            if is_scale(values):
                self._distributions[key] = library.distributions.IntDistribution(0, last)
            else:
                places = range(len(values))
                self._distributions[key] = library.distributions.CategoricalDistribution(places)
        self._random = Random(seed)  # noqa: S311
        self._told: dict[str, Sequence[float | None]] = {}
        self._asked: tuple[optuna.Trial, str] | None = None

    def learn(self, plan: Mapping[str, Any], values: Sequence[float | None]) -> None:
        """Take over what settings that were not proposed came to, where the axes hold them.

        plan: every field of it."""
        places: dict[str, int] = {}
        cell: dict[str, Any] = {}
        for key, choices in self._axes.items():
            value = _present(key, plan)
            if value not in choices:
                return
            places[key] = choices.index(value)
            cell[key] = value
        trial = self._placed(places)
        self._tell(trial, values)
        self._told[cell_label(cell)] = values

    def propose(self) -> Cell | None:
        """Propose settings that were not proposed before; None when all were."""
        for _ in range(REPEATED):
            trial = self._study.ask(self._distributions)
            cell = self._cell(trial.params)
            key = cell_label(cell)
            if key not in self._told:
                self._asked = (trial, key)
                return cell
            self._tell(trial, self._told[key])
        return self._propose_any()

    def tell(self, values: Sequence[float | None]) -> None:
        """Report the values of the last proposal to the sampler; without one it counts as a
        failure."""
        if self._asked is None:
            raise AssertionError("nothing was proposed")
        trial, key = self._asked
        self._told[key] = values
        self._tell(trial, values)

    def _propose_any(self) -> Cell | None:
        """Draw one of the cells that have not been tried."""
        for places in self._drawn_places():
            cell = self._cell(places)
            if cell_label(cell) not in self._told:
                self._asked = (self._placed(places), cell_label(cell))
                return cell
        return None

    def _drawn_places(self) -> Iterator[dict[str, int]]:
        """Yield every cell once in random order, or some if there are too many."""
        sizes = list(map(len, self._axes.values()))
        count = prod(sizes)
        for number in self._random.sample(range(count), min(count, ENUMERATED)):
            places: dict[str, int] = {}
            for key, size in zip(self._axes, sizes, strict=True):
                number, places[key] = divmod(number, size)
            yield places

    def _placed(self, places: Mapping[str, int]) -> "optuna.Trial":
        self._study.enqueue_trial(dict(places))
        trial: optuna.Trial = self._study.ask(self._distributions)
        return trial

    def _tell(self, trial: "optuna.Trial", values: Sequence[float | None]) -> None:
        valid = [value for value in values if value is not None]
        if len(valid) < len(values):
            self._study.tell(trial, state=import_optuna().trial.TrialState.FAIL)
        else:
            self._study.tell(trial, valid)

    def _cell(self, places: Mapping[str, int]) -> Cell:
        """By place in the axis, for Optuna's choices hold no lists."""
        cell = {key: self._axes[key][places[key]] for key in self._axes}
        check_cell(cell)
        return cell


def is_scale(values: Sequence[Any]) -> bool:
    """Tell whether the values are numbers in order, enough to be treated as a range."""
    if len(values) < LONG:
        return False
    numbers = [value for value in values if isinstance(value, int | float)]
    return len(numbers) == len(values) and numbers == sorted(numbers)


def import_optuna() -> Any:
    """Import Optuna late, which takes half a second, and silence its log."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


_UNKNOWN = object()


def _present(key: str, plan: Mapping[str, Any]) -> Any:
    """Return the present value of an axis; a placeholder if the plan does not set it."""
    section, _, name = key.partition(".")
    value = plan.get(name, _UNKNOWN) if section == "plan" else _UNKNOWN
    return list(value) if isinstance(value, tuple) else value

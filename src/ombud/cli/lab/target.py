"""Which target a verb asks, and what metrics need besides."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.lab import EvidenceTarget, FrozenTarget, Instruments, Metric, Target
    from ombud.types import Case

Result = TypeVar("Result")


def target_of(
    workspace: "Workspace",
    name: str,
    seconds: float = 120.0,
    on_progress: Callable[[str, int, int], None] = lambda *_: None,
) -> "EvidenceTarget":
    """Open a target: `local`, the address of an ombud, or another system: `module:function`, the
    address in the [target] table of ombud.toml, or a TOML file with such a table."""
    from ombud.app import LocalTarget
    from ombud.lab import RemoteTarget, find_system

    if name == "local":
        return LocalTarget(workspace, on_progress)
    system = find_system(name, workspace.settings.target, seconds=seconds)
    return system or RemoteTarget(name, seconds=seconds)


def frozen_target(
    target: "EvidenceTarget", evidence: Path, cases: "Sequence[Case]", *, triage: bool
) -> "FrozenTarget":
    """Wrap the target so that it answers from frozen passages; raises LabError if a case has
    none."""
    from ombud.lab import FrozenTarget, read_frozen

    frozen = FrozenTarget(target, read_frozen(evidence), triage=triage)
    frozen.check(cases)
    return frozen


def complete(work: "Coroutine[Any, Any, Result]", target: "Target") -> "Result":
    """Run to its end, then close the target's connections."""

    async def both() -> "Result":
        try:
            return await work
        finally:
            if isinstance(target, RemoteTarget | SystemTarget):
                await target.aclose()

    from ombud.lab import RemoteTarget, SystemTarget

    return asyncio.run(both())


def instruments(
    workspace: "Workspace", target: "Target | None", metrics: "Sequence[Metric]"
) -> "Instruments":
    """Return the target's texts and, only if a metric needs vectors, the workspace's embedder,
    which takes a second to load."""
    from ombud.app import embed_of
    from ombud.lab import Instruments

    alike = any(metric.name.startswith("semantic") for metric in metrics)
    text_of = target.text_of if target else None
    return Instruments(embed_of(workspace) if alike else None, text_of)

"""Datasets that are edited on a page. Every change is a version of its own, a file that is never
written again, with who changed what and why."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ombud.app.admin.jobs import PLAIN_NAME, note_action, write_file
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, Busy, NotFound
from ombud.lab import cases_text, digest_of, read_cases
from ombud.messages import message
from ombud.private_files import make_private_folder
from ombud.store import acquire_lease
from ombud.types import Case

FOLDER = "datasets"


class DatasetVersion(NamedTuple):
    """A version of a dataset: who changed what, and why."""

    number: int
    at: str
    by: str
    why: str
    what: tuple[str, ...]
    """Such as `leave-1: question`."""
    cases: int


class ShownDataset(NamedTuple):
    """A version of a dataset with its cases, and the history."""

    name: str
    number: int
    path: str
    """Of the version, for `ombud lab run`."""
    versions: tuple[DatasetVersion, ...]
    """Newest first."""
    cases: tuple[Case, ...]


def list_datasets(workspace: Workspace) -> list[tuple[str, DatasetVersion]]:
    """Return the edited datasets with their newest version."""
    folder = _folder(workspace)
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    versions = {name: _versions(folder / name) for name in names}
    return [(name, own[0]) for name, own in versions.items() if own]


def show_dataset(workspace: Workspace, name: str, number: int = 0) -> ShownDataset:
    """Return a version, the newest without a number. Raises NotFound."""
    folder = _folder(workspace) / name
    versions = _versions(folder) if PLAIN_NAME.fullmatch(name) else ()
    chosen = number or max((one.number for one in versions), default=0)
    if chosen not in {one.number for one in versions}:
        raise NotFound(
            message("evaluation.error_dataset_unknown"),
            hint=message("evaluation.error_dataset_unknown_hint"),
        )
    path = _file(folder, chosen)
    return ShownDataset(name, chosen, str(path), versions, tuple(read_cases(path)))


def add_version(
    workspace: Workspace,
    name: str,
    cases: Sequence[Case],
    *,
    why: str,
    by: tuple[str, str],
    base: int = 0,
) -> int:
    """Keep cases as the version after `base`; returns its number. by: id and name of an account.
    Raises BadRequest without a reason or a change, Busy where somebody was faster."""
    if not PLAIN_NAME.fullmatch(name):
        raise BadRequest(message("evaluation.error_dataset_name"))
    if not why.strip():
        raise BadRequest(message("evaluation.error_why"), hint=message("evaluation.error_why_hint"))
    folder = _folder(workspace) / name
    with acquire_lease(workspace.store, f"lab dataset {name}"):
        if _file(folder, base + 1).exists():
            raise Busy(
                message("evaluation.error_dataset_changed"),
                hint=message("evaluation.error_dataset_changed_hint"),
            )
        what = _changes(read_cases(_file(folder, base)) if base else (), cases)
        if not what or not cases:
            problem = (
                "evaluation.error_nothing_changed" if cases else "evaluation.error_no_case_left"
            )
            raise BadRequest(message(problem))
        record = DatasetVersion(
            number=base + 1,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            by=by[1],
            why=" ".join(why.split()),
            what=what,
            cases=len(cases),
        )
        make_private_folder(folder)
        file = _file(folder, base + 1)
        note = json.dumps(record._asdict(), ensure_ascii=False)
        file.with_suffix(".json").write_text(note, encoding="utf-8")
        write_file(file, cases_text(cases).encode())  # last: without cases it was never made
    facts = {"dataset": name, "version": base + 1, "digest": digest_of(cases)}
    note_action(workspace, "lab dataset", by[0], **facts)
    return base + 1


def change_case(
    shown: ShownDataset, case_id: str, fields: Mapping[str, Any] | None
) -> tuple[Case, ...]:
    """Return the cases with one changed, added, or without fields removed. fields: question,
    reference, expect, tags. Raises BadRequest for what is no case."""
    cases = {case.id: case for case in shown.cases}
    if fields is None:
        cases.pop(case_id, None)
        return tuple(cases.values())
    before = cases[case_id].model_dump(mode="json") if case_id in cases else {"id": case_id}
    references = list(before.get("references", ()))[1:]
    if fields["reference"]:
        references.insert(0, {"text": fields["reference"]})
    own = {"question": fields["question"], "expect": fields["expect"], "tags": fields["tags"]}
    try:
        cases[case_id] = Case.model_validate({**before, **own, "references": references})
    except ValidationError as wrong:
        first = wrong.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise BadRequest(f"{place}: {first['msg'].lower()}.") from wrong
    return tuple(cases.values())


def _changes(before: Sequence[Case], after: Sequence[Case]) -> tuple[str, ...]:
    old = {case.id: case for case in before}
    new = {case.id: case for case in after}
    what: list[str] = []
    for name, case in new.items():
        if name not in old:
            what.append(f"{name}: added")
        elif case != old[name]:
            fields = [field for field in Case.model_fields if _differs(case, old[name], field)]
            what.append(f"{name}: {', '.join(fields)}")
    return (*what, *(f"{name}: removed" for name in old if name not in new))


def _differs(first: Case, second: Case, field: str) -> bool:
    return bool(getattr(first, field) != getattr(second, field))


def _versions(folder: Path) -> tuple[DatasetVersion, ...]:
    versions: list[DatasetVersion] = []
    for path in folder.glob("*.jsonl"):
        fields = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        versions.append(DatasetVersion(**{**fields, "what": tuple(fields["what"])}))
    return tuple(sorted(versions, reverse=True))


def _folder(workspace: Workspace) -> Path:
    return workspace.data / "lab" / FOLDER


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number:04}.jsonl"

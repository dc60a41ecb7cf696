"""Reading the knowledge graph."""

import difflib
from datetime import date
from typing import Any, get_args

from ombud.app import asking
from ombud.app.workspace import Workspace
from ombud.errors import NotFound
from ombud.graph import Neighbourhood
from ombud.index import Filter
from ombud.retrieve import GraphSearch, neighbourhood
from ombud.store import Graph, entity_names, graph_digests
from ombud.store import graph_stats as stored_stats
from ombud.types import Person, Status

MOST = 60
"""Largest number of triplets around a term."""


def graph_around(
    workspace: Workspace,
    term: str,
    person: Person | None,
    depth: int = 1,
    as_of: date | None = None,
) -> Neighbourhood:
    """Return the triplets around a term that a person may see; None = the operator, who sees all.
    Raises NotFound if there are none."""
    everything = Filter(countries=None, reader=None, status=get_args(Status))
    where = (
        asking.scope_of(workspace, person, as_of)
        if person
        else everything.model_copy(update={"as_of": as_of})
    )
    search = GraphSearch(Graph(workspace.store), workspace.engine, where)
    triplets = neighbourhood(term, depth, search, MOST)
    if not triplets.edges:
        raise NotFound(
            f"The graph knows nothing called `{term}`.",
            hint=missing_term_hint(workspace, term, person),
        )
    return triplets


def graph_stats(workspace: Workspace) -> dict[str, Any]:
    return {"read_by": workspace.settings.index.graph, **stored_stats(workspace.store)}


def missing_term_hint(workspace: Workspace, term: str, person: Person | None) -> str:
    if not graph_digests(workspace.store):
        return 'Set models.chat and index.graph = "model" in ombud.toml, then run `ombud sync`.'
    if person:  # never suggest names of entities that they may not see
        return "Try another word, or leave --country and --role out to see everything."
    names = {name.casefold(): name for name in entity_names(workspace.store).values()}
    near = difflib.get_close_matches(term.casefold(), names, n=3, cutoff=0.6)
    return (
        f"Near to it: {', '.join(names[name] for name in near)}." if near else "Try another word."
    )

"""Looking at the graph of triplets."""

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
"""Triplets that are shown of a term."""


def graph_around(
    workspace: Workspace,
    term: str,
    person: Person | None,
    depth: int = 1,
    as_of: date | None = None,
) -> Neighbourhood:
    """What the documents say of a term, as this person may see it; None = the operator, who sees
    all.

    Raises NotFound where they say nothing of it.
    """
    everything = Filter(countries=None, reader=None, status=get_args(Status))
    where = (
        asking.scope_of(workspace, person, as_of)
        if person
        else everything.model_copy(update={"as_of": as_of})
    )
    search = GraphSearch(Graph(workspace.store), workspace.engine, where)
    found = neighbourhood(term, depth, search, MOST)
    if not found.edges:
        raise NotFound(
            f"The graph knows nothing called `{term}`.", hint=_hint(workspace, term, person)
        )
    return found


def graph_stats(workspace: Workspace) -> dict[str, Any]:
    return {"read_by": workspace.settings.index.graph, **stored_stats(workspace.store)}


def _hint(workspace: Workspace, term: str, person: Person | None) -> str:
    if not graph_digests(workspace.store):
        return 'Set index.graph = "rules" in ombud.toml and run `ombud sync`.'
    if person:  # the name of what they may not see is not for them
        return "Try another word, or leave --country and --role out to see everything."
    names = {name.casefold(): name for name in entity_names(workspace.store).values()}
    near = difflib.get_close_matches(term.casefold(), names, n=3, cutoff=0.6)
    return (
        f"Near to it: {', '.join(names[name] for name in near)}." if near else "Try another word."
    )

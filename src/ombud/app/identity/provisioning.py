"""SCIM 2.0 (RFC 7643, 7644): a directory creates, changes and disables accounts. The protocol is
scim2-server's; here are the rows behind it, and who may speak."""

import json
import os
import secrets
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any

from pydantic import Field
from scim2_models import (
    AuthenticationScheme,
    Bulk,
    ChangePassword,
    EnterpriseUser,
    Error,
    ETag,
    Filter,
    Group,
    GroupMember,
    GroupMembership,
    InvalidValueException,
    Manager,
    Meta,
    Mutability,
    NotFoundException,
    Patch,
    PreconditionFailedException,
    Reference,
    Required,
    Resource,
    ResourceType,
    SCIMException,
    ScimFilter,
    ScimPolicy,
    ScimProvider,
    SearchRequest,
    ServiceProviderConfig,
    Sort,
    UnauthorizedException,
    UniquenessException,
    User,
)
from scim2_models.path import CompareOperator, Comparison
from scim2_server.handler import ScimHandler
from scim2_server.memory import InMemoryStorage
from scim2_server.requests import ScimRequest
from scim2_server.responses import ScimResponse
from scim2_server.service import ScimService
from scim2_server.storage import ScimStorage, SearchPage

from ombud.app.identity.described import describe
from ombud.app.identity.people import DIRECTORY, mark
from ombud.app.identity.provider import subject_digest
from ombud.app.identity.signing_in import plain_name
from ombud.app.workspace import Workspace
from ombud.errors import OmbudError, SetupError, StoreError
from ombud.store import directory, note_in_chain


class Superior(Manager):
    """A manager named by their id alone, as directories send it."""

    ref: Annotated[Reference[Any] | None, Required.false] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )


class Employment(EnterpriseUser):
    """The enterprise schema with the manager as directories send it."""

    manager: Superior | None = None


class TeamMember(GroupMember):
    """A member of a group by their id; the directory's name for them is not stored."""

    display: Annotated[str | None, Mutability.read_only] = None


class Team(Group):
    """A group whose members are users."""

    members: list[TeamMember] | None = None  # type: ignore[assignment]  # narrower than theirs


Member = User[Employment]
PATIENT = ScimPolicy(
    unknown=ScimPolicy.Unknown.ignore,
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)
"""Deviations that Microsoft Entra needs."""
CONFIG = ServiceProviderConfig(
    patch=Patch(supported=True),
    bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
    filter=Filter(supported=True, max_results=200),
    change_password=ChangePassword(supported=False),
    sort=Sort(supported=True),
    etag=ETag(supported=True),
    authentication_schemes=[
        AuthenticationScheme(
            type=AuthenticationScheme.Type.oauthbearertoken,
            name="Bearer token",
            description="The secret that identity.scim_token_env names.",
            primary=True,
        )
    ],
)


PROVIDER = ScimProvider(
    models=[User, Employment, Team],
    resource_types=[ResourceType.from_resource(Member), ResourceType.from_resource(Team)],
    config=CONFIG,
    policy=PATIENT,
)


class Provisioning:
    """The SCIM service of a workspace; safe in several threads."""

    def __init__(self, workspace: Workspace) -> None:
        """Raises SetupError if the token is missing or can be guessed."""
        named = workspace.settings.identity.scim_token_env
        token = os.environ.get(named, "").strip()
        if len(token) < 32:
            raise SetupError(
                f"{named} is not set, or is shorter than 32 characters.",
                hint="Set it to a random secret, such as from `openssl rand -hex 32`.",
            )
        self._token = token.encode()
        self._service = ScimService(PROVIDER)
        self._handler = ScimHandler(self._service, Accounts(workspace))

    def handle(self, request: ScimRequest) -> ScimResponse:
        """Return the response to a request, errors in the form of SCIM."""
        try:
            self._check_token(request.header("authorization") or "")
            return self._handle_again(request)
        except SCIMException as refused:
            return self._service.error_response(refused)
        except OmbudError as failed:
            error = Error(status=failed.status, detail=f"{failed} {failed.hint}".strip())
            return ScimResponse(HTTPStatus(failed.status), error.model_dump())

    def _check_token(self, header: str) -> None:
        kind, _, token = header.partition(" ")
        is_right = secrets.compare_digest(token.strip().encode(), self._token)
        if kind.lower() != "bearer" or not is_right:
            raise UnauthorizedException(detail="The bearer token is missing or wrong.")

    def _handle_again(self, request: ScimRequest) -> ScimResponse:
        """Repeat a change that met another one; who names a version with If-Match learns of it."""
        for _ in range(5):
            try:
                return self._handler.handle(request)
            except PreconditionFailedException:
                if request.header("if-match") or request.header("if-none-match"):
                    raise
        raise StoreError("The directory changes the same group too often at once.")


class Accounts(ScimStorage):
    """Accounts as SCIM users, and the groups of the directory."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._store = workspace.store
        self._describe = partial(describe, workspace.settings.identity)

    # Reading ----------------------------------------------------------------------------------

    def get(
        self, resource_type: ResourceType, resource_id: str, *, response_parameters: Any = None
    ) -> Resource[Any]:
        del response_parameters
        for resource in self._resources(resource_type, identity=resource_id):
            return resource
        raise NotFoundException(detail=f"There is no {resource_type.name} {resource_id!r}.")

    def search(
        self,
        resource_types: list[ResourceType],
        search_request: SearchRequest[Any],
        *,
        position: Any = None,
    ) -> SearchPage:
        narrow = exact_names(search_request.filter)
        memory = InMemoryStorage()
        memory.resources = [
            resource
            for resource_type in resource_types
            for resource in self._resources(resource_type, **narrow)
        ]
        return memory.search(resource_types, search_request, position=position)

    def _resources(self, resource_type: ResourceType, **names: str) -> list[Resource[Any]]:
        if resource_type.name == "Group":
            groups = directory.list_groups(self._store, names.get("identity", ""))
            return list(map(group_resource, groups))
        users = directory.list_users(self._store, **names)
        only = users[0].id if len(users) == 1 else ""
        groups_of = directory.groups_of_users(self._store, only)
        return [user_resource(user, groups_of.get(user.id, [])) for user in users]

    # Writing ----------------------------------------------------------------------------------

    def create(self, resource_type: ResourceType, resource: Resource[Any]) -> Resource[Any]:
        if isinstance(resource, Team):
            group = self._group(resource, str(uuid.uuid4()), 0)
            self._write(directory.save_group, group)
            self._note("group saved", group.id)
            return self.get(resource_type, group.id)
        user = self._user(resource, "", 0)
        identity = self._write(directory.add_user, user)
        self._note("person added", identity)
        return self.get(resource_type, identity)

    def update(
        self,
        resource_type: ResourceType,
        resource: Resource[Any],
        *,
        expected_version: str | None = None,
    ) -> Resource[Any]:
        before = self._current(resource_type, resource.id, expected_version)
        if isinstance(resource, Team):
            self._write(directory.save_group, self._group(resource, before.id, before.version))
            self._note("group saved", before.id)
        else:
            user = self._user(resource, before.id, before.version)
            self._write(directory.save_user, user)
            is_switched = user.active != before.active
            switched = "enabled" if user.active else "disabled"
            self._note(switched if is_switched else "person changed", user.id)
        return self.get(resource_type, before.id)

    def delete(
        self,
        resource_type: ResourceType,
        resource_id: str,
        *,
        expected_version: str | None = None,
    ) -> None:
        before = self._current(resource_type, resource_id, expected_version)
        if isinstance(before, directory.DirectoryGroup):
            self._write(directory.remove_group, before)
            self._note("group removed", before.id)
        else:
            self._write(directory.remove_user, before)
            self._note("disabled", before.id)

    def _current(
        self, resource_type: ResourceType, identity: str | None, expected_version: str | None
    ) -> Any:
        """Return the row of a resource, if it has the expected version."""
        named = identity or ""
        is_group = resource_type.name == "Group"
        rows = (
            directory.list_groups(self._store, named)
            if is_group
            else directory.list_users(self._store, identity=named)
        )
        if not named or not rows:
            raise NotFoundException(detail=f"There is no {resource_type.name} {named!r}.")
        row = rows[0]
        if expected_version is not None and expected_version != version_of(row.version):
            raise PreconditionFailedException
        return row

    def _write(self, write: Callable[..., Any], row: Any) -> Any:
        try:
            return write(self._store, row, self._describe)
        except directory.Taken as taken:
            raise UniquenessException(detail=str(taken)) from taken
        except directory.Outdated as outdated:
            raise PreconditionFailedException from outdated

    def _note(self, action: str, identity: str) -> None:
        subject = "group" if action.startswith("group") else "account"
        facts = {"action": action, subject: mark(identity), "by": mark(DIRECTORY)}
        note_in_chain(self._store, "people", facts)

    def _user(
        self, resource: Resource[Any], identity: str, version: int
    ) -> directory.DirectoryUser:
        user = resource.model_copy(deep=True)
        assert isinstance(user, User)  # noqa: S101 - the service serves no other type
        enterprise = user[Employment]
        manager = enterprise.manager if enterprise else None
        # Without it, whoever signs in would have another account, which nobody disables.
        by_provider = self._workspace.settings.identity.kind == "oidc"
        external = checked_text(user.external_id, "externalId", may_be_empty=not by_provider)
        user.id, user.meta, user.groups, user.password = None, None, None, None
        content = json.dumps(user.model_dump(), ensure_ascii=False)
        if len(content) > 50_000:
            raise InvalidValueException(detail="A user may have at most 50,000 characters.")
        return directory.DirectoryUser(
            id=identity,
            user_name=plain_name(checked_text(user.user_name, "userName")),
            external_id=external,
            manager_id=checked_text(manager.value if manager else "", "manager", may_be_empty=True),
            active=user.active is not False,
            resource=content,
            version=version,
            subject=subject_digest(self._workspace, external) if by_provider else None,
        )

    def _group(self, group: Team, identity: str, version: int) -> directory.DirectoryGroup:
        wanted = {member.value for member in group.members or () if member.value}
        if wanted - directory.known_users(self._store, wanted):
            raise InvalidValueException(detail="Members are users by their id; others were named.")
        return directory.DirectoryGroup(
            id=identity,
            name=checked_text(group.display_name, "displayName"),
            external_id=checked_text(group.external_id, "externalId", may_be_empty=True),
            members=tuple(sorted(wanted)),
            version=version,
        )


def user_resource(user: directory.DirectoryUser, groups: list[tuple[str, str]]) -> Resource[Any]:
    resource = Member.model_validate(json.loads(user.resource))
    resource.id = user.id
    resource.meta = meta_of("User", user)
    if groups:
        resource.groups = [
            GroupMembership(value=identity, display=name, ref=Reference(f"Groups/{identity}"))
            for identity, name in groups
        ]
    return resource


def group_resource(group: directory.DirectoryGroup) -> Resource[Any]:
    members = [
        TeamMember(value=one, ref=Reference(f"Users/{one}"), type="User") for one in group.members
    ]
    return Team(
        id=group.id,
        external_id=group.external_id or None,
        display_name=group.name,
        members=members or None,
        meta=meta_of("Group", group),
    )


def meta_of(kind: str, row: directory.DirectoryUser | directory.DirectoryGroup) -> Meta:
    return Meta.model_validate(
        {
            "resourceType": kind,
            "created": row.created,
            "lastModified": row.modified,
            "version": version_of(row.version),
        }
    )


def version_of(number: int) -> str:
    return f'W/"{number}"'


def checked_text(value: str | None, name: str, *, may_be_empty: bool = False) -> str:
    """Return a name that a database stores and a page shows. Raises InvalidValueException."""
    text = (value or "").strip()
    if len(text) > 200 or not (text.isprintable() and (text or may_be_empty)):
        raise InvalidValueException(detail=f"{name} has 1 to 200 printable characters.")
    return text


def exact_names(query: ScimFilter[Any] | None) -> Mapping[str, str]:
    """Return the name that a filter demands, as directories ask for one person before each change;
    empty for every other filter."""
    node = query.ast if query is not None else None
    if not isinstance(node, Comparison) or node.op != CompareOperator.eq:
        return {}
    if not isinstance(node.value, str) or not node.value or node.attr_path.sub_attr:
        return {}
    match node.attr_path.attr.lower():
        case "username":
            return {"user_name": plain_name(node.value)}
        case "externalid":
            return {"external_id": node.value.strip()}
    return {}

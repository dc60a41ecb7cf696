"""Who people are and how they sign in: `[identity]`."""

from typing import Literal

from pydantic import Field, field_validator, model_validator

from ombud.settings.sections import Section
from ombud.types import Duty

DEFAULT_CLAIMS = {
    "country": "country",
    "roles": "roles",
    "groups": "groups",
    "grade": "grade",
    "contract": "contract",
    "language": "locale",
    "duties": "roles",
}
CLAIMED = tuple(DEFAULT_CLAIMS)


class IdentitySettings(Section):
    kind: Literal["none", "local", "oidc"] = Field(
        "none",
        description="Who may come in: everybody on this machine, people with a password, or people "
        "whom an OpenID Connect provider knows.",
    )
    # A working day: whoever comes back in the morning signs in again.
    hours: int = Field(12, ge=1, le=720, description="Hours after which people sign in again.")
    issuer: str = Field("", description="Address of the OpenID Connect provider.")
    client_id: str = Field("", description="What the provider calls this application.")
    secret_env: str = Field(
        "OIDC_CLIENT_SECRET",
        description="Environment variable with the application's secret; unset = none, the proof "
        "key (PKCE) alone.",
    )
    scopes: tuple[str, ...] = Field(
        ("openid", "profile", "email"), description="What the provider is asked for."
    )
    # A provider may say `sub` differently to each application; Teams says who writes by `oid`.
    subject: str = Field(
        "sub",
        min_length=1,
        description="Claim that names somebody for ever; with Microsoft Entra and Teams: oid.",
    )
    claims: dict[str, str] = Field(
        DEFAULT_CLAIMS,
        description="Which claim says somebody's country, roles, groups, grade, contract, language "
        "and duties.",
    )
    duties: dict[str, tuple[Duty, ...]] = Field(
        {},
        description="Value of the claim for duties -> employee, advisor, policy_owner, engineer, "
        "admin; everybody else is an employee.",
    )
    everybody: bool = Field(
        True,
        description="Whoever the provider knows may ask; false = only those to whom `duties` gives "
        "something.",
    )

    graph: str = Field(
        "https://graph.microsoft.com",
        description="Address of Microsoft Graph, which names the groups of somebody who is in more "
        "than a token of Entra ID holds.",
    )
    scim_token_env: str = Field(
        "",
        description="Environment variable with the token by which a directory provisions people "
        "and groups at /scim/v2 (SCIM 2.0); empty = none does.",
    )
    manager_role: str = Field(
        "",
        description="Role of whoever the directory names as somebody's manager; empty = none.",
    )

    @field_validator("claims")
    @classmethod
    def _check_claims(cls, claims: dict[str, str]) -> dict[str, str]:
        for name in claims:
            if name not in CLAIMED:
                raise ValueError(f"`{name}` is none of {', '.join(CLAIMED)}")
        return {**DEFAULT_CLAIMS, **claims}

    @model_validator(mode="after")
    def _whole(self) -> "IdentitySettings":
        if self.kind == "oidc" and not (self.issuer and self.client_id):
            raise ValueError("`oidc` needs issuer and client_id")
        for address in filter(None, (self.issuer, self.graph)):
            if not address.startswith(("https://", "http://127.0.0.1:")):
                raise ValueError(f"`{address}` must be an https:// address")
        if self.scim_token_env and self.kind == "none":
            raise ValueError("scim_token_env needs kind = local or oidc: nobody signs in yet")
        return self

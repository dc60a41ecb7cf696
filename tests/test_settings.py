"""Settings: one file, variables above it, flags above both; nothing misspelt goes unnoticed."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.errors import BadSetting
from ombud.settings import Settings, find_home, load, merge_plan, nearest, plan_for, rows
from ombud.types import Person, Plan


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in os.environ if n.upper().startswith("OMBUD")]:
        monkeypatch.delenv(name)


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "ombud.toml").write_text(text, encoding="utf-8")
    return folder


def origins(settings: Settings, flags: dict[str, Any] | None = None) -> dict[str, str]:
    return {key: origin for key, _, origin in rows(settings, flags) if origin != "default"}


def test_without_a_file_everything_is_the_default() -> None:
    settings = load()
    assert (settings.server.host, settings.server.port, settings.models.embedder) == (
        "127.0.0.1",
        8321,
        "minilm",
    )
    assert (settings.plan.k, settings.plan.pool, settings.plan.rewrites) == (8, 30, 3)
    assert origins(settings) == {}


def test_a_flag_wins_over_a_variable_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = write(tmp_path, "[server]\nport = 1\nconcurrency = 2\nhost = 'localhost'\n")
    monkeypatch.setenv("OMBUD_SERVER__PORT", "10")
    monkeypatch.setenv("OMBUD_SERVER__CONCURRENCY", "20")
    flags = {"server": {"port": 100}}
    settings = load(home, flags)
    server = settings.server
    assert (server.host, server.port, server.concurrency) == ("localhost", 100, 20)
    assert origins(settings, flags) == {
        "server.host": "file",
        "server.port": "flag",
        "server.concurrency": "env",
    }


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("[server]\nprot = 1", "`server.prot` in ombud.toml", "`port`"),
        ("[sever]\nport = 1", "`sever` in ombud.toml", "`server`"),
        ("[plan]\npol = 1", "`plan.pol`", "`pool`"),
        ("[country.GB.plan]\npol = 1", "country.GB.plan: `pol`", "`pool`"),
        ("[country.GB]\nplam = {k = 1}", "`country.GB.plam`", "`plan`"),
        ("[persona.manager.plan]\npol = 1", "persona.manager.plan: `pol`", "`pool`"),
        ("[experiment.a]\nshrae = 1", "`experiment.a.shrae`", "`share`"),
        ("[experiment.a]\nshare = 1\nplan = {pol = 1}", "experiment.a.plan: `pol`", "`pool`"),
        ("[[source]]\nname = 'a'\npaht = 'b'", "`source.0.paht`", "`path`"),
        ("[server]\nzzzzzz = 1", "`server.zzzzzz`", "Known: concurrency, embed_origins"),
    ],
)
def test_a_misspelt_key_names_the_nearest(tmp_path: Path, text: str, said: str, hint: str) -> None:
    with pytest.raises(BadSetting, match=r"not a (setting|field)") as wrong:
        load(write(tmp_path, text))
    assert said in str(wrong.value)
    assert hint in wrong.value.hint


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("OMBUD_SERVER__PROT", "`PORT`"),
        ("OMBUD_SEVER__PORT", "`SERVER`"),
        ("ombud_server__prot", "`PORT`"),
        ("OMBUD_SERVER_PORT", "`SERVER`"),
        ("OMBUD_QUX", "Known: ANSWER, AUDIT, AZURE, COUNTRY"),
        ("OMBUD_", "Known: ANSWER, AUDIT, AZURE, COUNTRY"),
    ],
)
def test_a_misspelt_variable_names_the_nearest(
    name: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(BadSetting, match=f"`{name}` is not a setting") as wrong:
        load()
    assert hint in wrong.value.hint


def test_a_misspelt_key_inside_a_variable_is_said_to_be_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMBUD_SERVER", '{"prot": 1}')
    with pytest.raises(BadSetting, match=r"`server\.prot` in the environment") as wrong:
        load()
    assert "`port`" in wrong.value.hint


def test_a_misspelt_flag_is_said_to_be_in_the_command(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"`server\.prt` in the command"):
        load(write(tmp_path, ""), {"server": {"prt": 1}})


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("[plan]\nmode = 'hybird'", "plan.mode = 'hybird'", "'hybrid', 'sparse' or 'dense'"),
        (
            "[plan]\nk = -1",
            "plan.k = -1: input should be greater than or equal to 0",
            "ombud settings",
        ),
        ("[server]\nport = 65536", "server.port = 65536", "ombud settings"),
        ("[models]\ntimeout_seconds = nan", "models.timeout_seconds", "ombud settings"),
        (
            "[country.GB.plan]\nk = 1000",
            "country.GB.plan: plan.k: input should be less than or equal to 100",
            "",
        ),
        (
            "[country.England.plan]\nk = 3",
            "`England` is not a two-letter country code such as GB",
            "",
        ),
        ("[answer.emergency]\nEngland = '999'", "answer.emergency: `England`", ""),
        ("[experiment.a]\nplan = {k = 3}", "`experiment.a.share` is missing", ""),
        (
            "[experiment.a]\nshare = 10",
            "experiment.a.share = 10: input should be less than or equal to 1",
            "",
        ),
        (
            "[experiment.a]\nshare = -0.1",
            "experiment.a.share = -0.1: input should be greater than or equal to 0",
            "",
        ),
        ("[experiment.a]\nshare = nan", "experiment.a.share", ""),
        ("[experiment.a]\nshare = 1\nplan = {k = 0}", "experiment.a.plan: k = 0", ""),
        (
            "[experiment.a]\nshare = 1\ncountries = ['GBR']",
            "`GBR` is not a two-letter country code such as GB",
            "",
        ),
        (
            "[experiment.a]\nshare = 1\ncountries = ['']",
            "a two-letter country code such as GB is missing",
            "",
        ),
        ("[experiment.'a+b']\nshare = 1", "`a+b` is no name of small letters, digits, - and _", ""),
        ("[experiment.Hyde]\nshare = 1", "`Hyde` is no name of small letters", ""),
        ("[persona.manager.plan]\nk = 0", "persona.manager.plan: k = 0", ""),
        (
            "[general]\ntimezone = 'Europe/Berln'",
            "'Europe/Berln': not an IANA time zone such as Europe/Berlin.",
            "",
        ),
        ("[general]\ntimezone = ''", "not an IANA time zone", ""),
        ("[general]\ntimezone = 'Europe'", "not an IANA time zone", ""),
        ("[general]\ntimezone = '../../etc/passwd'", "not an IANA time zone", ""),
        ("[[source]]\nname = 'a'", "`source.0.path` is missing", ""),
        (
            "[[source]]\nname = 'a'\npath = 'x'\ntype = 'fodler'",
            "source.0.type = 'fodler'",
            "`folder`",
        ),
        ("server = 3", "server = 3", ""),
        ("country = 3", "country = 3", ""),
    ],
)
def test_a_value_that_cannot_be_is_named_with_what_it_takes(
    tmp_path: Path, text: str, said: str, hint: str
) -> None:
    with pytest.raises(BadSetting) as wrong:
        load(write(tmp_path, text))
    assert said in str(wrong.value)
    assert hint in wrong.value.hint


def test_two_sources_of_one_name_are_refused(tmp_path: Path) -> None:
    block = "[[source]]\nname = 'a'\npath = 'x'\n"
    with pytest.raises(
        BadSetting, match=r"^settings: two \[\[source\]\] entries have the same name\.$"
    ):
        load(write(tmp_path, block + block))


@pytest.mark.parametrize(
    "text", ["[plan\nk = 0", "[plan]\nk = 1\nk = 2", "k =", "k = " + "[" * 10_000]
)
def test_invalid_toml_names_the_file_and_the_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        BadSetting, match=r"ombud\.toml is not valid TOML: .*(line|end of document|depth)"
    ):
        load(write(tmp_path, text))


def test_a_file_that_is_not_text_is_invalid(tmp_path: Path) -> None:
    (tmp_path / "ombud.toml").write_bytes("[server]\n".encode("utf-16"))
    with pytest.raises(BadSetting, match="not valid TOML"):
        load(tmp_path)


@pytest.mark.skipif(
    not Path("/proc/self/mem").exists(), reason="no file here that opens and cannot be read"
)
def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "ombud.toml").symlink_to("/proc/self/mem")
    with pytest.raises(BadSetting, match="cannot be read") as wrong:
        load(tmp_path)
    assert "permissions" in wrong.value.hint


def test_a_list_in_a_variable_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMBUD_PLAN__SOURCES", '["handbook", "law"]')
    assert load().plan.sources == ("handbook", "law")
    monkeypatch.setenv("OMBUD_PLAN__SOURCES", "handbook,law")
    with pytest.raises(BadSetting, match="cannot be read") as wrong:
        load()
    assert "JSON" in wrong.value.hint


def test_a_variable_of_a_whole_section_marks_only_what_it_sets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMBUD_PLAN", '{"k": 5}')
    assert origins(load()) == {"plan.k": "env"}


def test_the_home_variable_is_no_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OMBUD_HOME", str(tmp_path))
    assert load() == Settings()


def test_origins_are_those_of_the_settings_asked_for(tmp_path: Path) -> None:
    first = load(write(tmp_path / "a", "[server]\nport = 1\n"))
    second = load(write(tmp_path / "b", "[plan]\nk = 3\n"))
    assert origins(first) == {"server.port": "file"}
    assert origins(second) == {"plan.k": "file"}


def test_two_threads_each_read_their_own_file(tmp_path: Path) -> None:
    homes = [write(tmp_path / str(port), f"[server]\nport = {port}\n") for port in range(1, 9)]
    read: dict[int, set[int]] = {}

    def work(number: int) -> None:
        read[number] = {load(homes[number - 1]).server.port for _ in range(10)}

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == {n: {n} for n in range(1, 9)}


def test_rows_are_plain_values_of_every_setting(tmp_path: Path) -> None:
    text = "[[source]]\nname = 'a'\npath = 'x'\ncountry = ['GB', 'IE']\n[country.GB.plan]\nk = 3\n"
    listed = {key: (value, origin) for key, value, origin in rows(load(write(tmp_path, text)))}
    value, origin = listed["source"]
    assert origin == "file"
    assert (value[0]["path"], value[0]["country"]) == ("x", ["GB", "IE"])
    assert listed["country"] == ({"GB": {"plan": {"k": 3}}}, "file")
    assert listed["store.url"] == ("", "default")
    assert {key.partition(".")[0] for key in listed} == set(Settings.model_fields)


# Plans --------------------------------------------------------------------------------------------


def test_a_country_changes_the_plan_and_a_request_changes_both(tmp_path: Path) -> None:
    settings = load(
        write(tmp_path, "[plan]\nk = 5\npool = 40\n[country.GB.plan]\nk = 6\nrewrites = 10\n")
    )
    nowhere, france, britain = (Person(country=code) for code in (None, "FR", "GB"))
    assert plan_for(settings, nowhere).plan == Plan(k=5, pool=40)
    assert plan_for(settings, france).plan == Plan(k=5, pool=40)
    assert plan_for(settings, britain).plan == Plan(k=6, pool=40, rewrites=10)
    assert plan_for(settings, britain, {"k": 7}).plan == Plan(k=7, pool=40, rewrites=10)


def test_a_country_may_be_set_in_small_letters_and_by_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMBUD_COUNTRY__FR__PLAN__K", "4")
    monkeypatch.setenv("OMBUD_ANSWER__EMERGENCY__FR", "Call 112.")
    settings = load(write(tmp_path, "[country.gb.plan]\nk = 3\n"))
    assert [
        plan_for(settings, Person(country=country)).plan.k for country in ("GB", "FR", "DE")
    ] == [3, 4, 8]
    assert settings.answer.emergency["FR"] == "Call 112."


def test_an_unknown_plan_field_names_the_nearest() -> None:
    with pytest.raises(BadSetting, match="`weigths` is not a field of the plan") as wrong:
        merge_plan({"weigths": {}})
    assert wrong.value.hint == "Did you mean `weights`?"


def test_a_plan_value_that_cannot_be_is_named() -> None:
    with pytest.raises(BadSetting, match=r"plan\.mode") as wrong:
        merge_plan({"mode": "both"})
    assert wrong.value.hint == "It takes 'hybrid', 'sparse' or 'dense'."


LAYER = st.fixed_dictionaries(
    {},
    optional={
        "k": st.integers(1, 100),
        "pool": st.integers(1, 1000),
        "mode": st.sampled_from(["hybrid", "sparse", "dense"]),
        "graph": st.booleans(),
        "sources": st.lists(st.sampled_from(["a", "b"])).map(tuple),
    },
)


@given(LAYER, LAYER, LAYER)
def test_the_last_layer_that_sets_a_field_wins(
    first: dict[str, Any], second: dict[str, Any], third: dict[str, Any]
) -> None:
    merged = merge_plan(second, third, base=Plan(**first))
    for field, default in Plan().model_dump().items():
        wanted = next((layer[field] for layer in (third, second, first) if field in layer), default)
        assert getattr(merged, field) == wanted


def test_merging_leaves_its_layers_alone() -> None:
    base, layer = Plan(), {"k": 3}
    merge_plan(layer, base=base)
    assert (base, layer) == (Plan(), {"k": 3})


# Finding the workspace ----------------------------------------------------------------------------


def test_the_workspace_is_the_nearest_folder_above_with_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "work" / "deep" / "deeper"
    inner.mkdir(parents=True)
    write(tmp_path, "")
    write(tmp_path / "work", "")
    monkeypatch.chdir(inner)
    assert find_home() == tmp_path / "work"


def test_a_given_folder_wins_over_the_variable_and_that_over_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMBUD_HOME", str(tmp_path / "named"))
    assert find_home() == tmp_path / "named"
    assert find_home(tmp_path / "given") == tmp_path / "given"


def test_no_workspace_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_home() is None


def test_nearest_lists_all_where_nothing_is_near() -> None:
    assert nearest("zzz", {"port", "host"}) == "Known: host, port."
    assert nearest("prot", {"port", "host"}) == "Did you mean `port`?"

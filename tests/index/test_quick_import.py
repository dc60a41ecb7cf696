"""What a process does not import to ask an index, and that it is all there for whoever wants it."""

import subprocess
import sys

import pytest

AS_OMBUD = "import ombud.index.engines.lance, sys\n"


def printed(program: str) -> str:
    """By a process of its own: what is imported once stays."""
    command = [sys.executable, "-c", AS_OMBUD + program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_pandas_is_imported_for_whoever_wants_it_and_for_nobody_else() -> None:
    pytest.importorskip("pandas")
    program = """
import pyarrow
print("pandas" in sys.modules)
print(pyarrow.table({"day": [1, 2, 3]}).to_pandas()["day"].sum())
import pandas
print(pyarrow.array(pandas.Series([1, None])).null_count)
"""
    assert printed(program).split() == ["False", "6", "1"]


def test_the_models_of_the_remote_catalogue_work_when_they_are_used() -> None:
    program = """
import lance_namespace, lancedb.namespace
CLIENT = "lance_namespace_urllib3_client.models."
models = sum(name.startswith(CLIENT) for name in sys.modules)
print(models < 40)
class Request(lance_namespace.DescribeTableRequest):
    pass
made = Request(id=["handbook"])
print(isinstance(made, lance_namespace.DescribeTableRequest), made.id)
print(lance_namespace.ListTablesResponse(tables=["a"]).tables)
print(isinstance(made, lance_namespace.ListTablesResponse))
try:
    lance_namespace.DescribeTableRequest(id=3)
except ValueError as wrong:
    print("id" in str(wrong))
"""
    lines = printed(program).splitlines()
    assert lines == ["True", "True ['handbook']", "['a']", "False", "True"]


def test_a_name_that_the_catalogue_has_not_is_told_as_ever() -> None:
    program = """
try:
    from lance_namespace_urllib3_client.models import Nothing
except ImportError as missing:
    print(missing.name, "Nothing" in str(missing))
"""
    assert printed(program) == "lance_namespace_urllib3_client.models True"

"""Schemas of people as parts of tools: no report that takes years to check holds a session up."""

from moot.core import schema_checker
from moot.core.formats import Format
from moot.core.json import Json
from moot.session import schemas
from tests.session.staging import Hall, agent, reports

LONG = "a" * 40 + "b"


async def test_a_report_that_takes_years_to_check_is_none() -> None:
    hall, shape = Hall(), Format("json", {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}})
    report = await hall.report(agent("a", reports({"a": LONG}), reports({"a": "aaa"}), output=shape))
    assert report.text == '{"a":"aaa"}'
    assert "takes longer than 5 s" in hall.told("a", 2)


def test_references_of_a_schema_lead_to_where_it_is_put() -> None:
    tree: dict[str, Json] = {
        "$defs": {"leaf": {"type": "string"}},
        "properties": {
            "$ref": {"type": "integer"},  # a name, not a reference
            "leaf": {"$ref": "#/$defs/leaf"},
            "all": {"items": {"$ref": "#"}},
            "one": {"enum": [{"$ref": "#/$defs/leaf"}]},  # a value
            "other": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        },
    }
    moved = schemas.within(tree, "report")
    whole: dict[str, Json] = {"type": "object", "properties": {"report": moved}}
    value: Json = {"report": {"$ref": 1, "leaf": "x", "all": [{"leaf": "y"}], "one": {"$ref": "#/$defs/leaf"}}}
    assert schema_checker.mismatch(value, whole) is None
    assert schema_checker.mismatch({"report": {"leaf": 1}}, whole) is not None
    assert schema_checker.mismatch({"report": {"all": [{"leaf": 1}]}}, whole) is not None
    assert schema_checker.mismatch({"report": {"$ref": "x"}}, whole) is not None
    assert schema_checker.mismatch({"report": {"one": {"$ref": "#/properties/report/$defs/leaf"}}}, whole) is not None
    own: dict[str, Json] = {"$id": "http://e/own", "$ref": "#/$defs/leaf"}
    assert schemas.within(own, "report") == own

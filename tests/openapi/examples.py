"""Holds every example of the document to its schema, and shows that the schemas refuse what is wrong.

    examples.py OPENAPI_JSON
"""

import json
import sys

import jsonschema_rs

with open(sys.argv[1]) as file:
    DOCUMENT = json.load(file)


def fits(schema, value):
    whole = {**schema, "components": DOCUMENT["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True).is_valid(value)


def contents():
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            if method == "parameters":
                continue
            body = operation.get("requestBody")
            for where, part in [*operation["responses"].items(), *([("request", body)] if body else [])]:
                for content in part.get("content", {}).values():
                    yield f"{method} {path} {where}", content


def without(value, key):
    return {k: v for k, v in value.items() if k != key}


checked = 0
for where, content in contents():
    for example in content["examples"].values():
        value, schema = example["value"], content["schema"]
        assert fits(schema, value), f"{where}: {value} does not fit"
        assert not fits(schema, [value]), f"{where}: anything fits"
        if "request" in where:
            assert not fits(schema, {**value, "extra": 1}), f"{where}: an unknown field fits"
        else:
            needed = "code" if "correlationId" in value else "schemaVersion"
            assert not fits(schema, without(value, needed)), f"{where}: {needed} may be left out"
        checked += 1

ROOM = {"catalogId": "019ad2c1-9a04-7d1b-b0c6-6e58f17a2d93", "matrixRoomId": "!r:x"}
ENTERED = {"$ref": "#/components/schemas/Entered"}
assert fits(ENTERED, {"schemaVersion": 1, "room": ROOM})
assert not fits(ENTERED, {"schemaVersion": 1}), "neither room nor knock"
assert not fits(ENTERED, {"schemaVersion": 1, "room": {**ROOM, "name": None}}), "what is absent is left out"
assert not fits({"$ref": "#/components/schemas/Sent"}, {
    "schemaVersion": 1, "submissionId": "s", "roomId": "!r:x", "eventId": None, "status": "late",
}), "a status of its own"

print(checked)

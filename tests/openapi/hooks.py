"""What schemathesis cannot know from the document: who calls, and the ids of what exists.

The story writes the world (address, tokens, ids) to the file that PARLOUR_WORLD names. About half of the ids that are
generated are replaced by real ones, so that calls get beyond "there is no such thing".
"""

import hashlib
import json
import os

import requests
import schemathesis

with open(os.environ["PARLOUR_WORLD"]) as file:
    WORLD = json.load(file)
API = WORLD["api"]


def name(operation):
    return operation.definition.raw["operationId"]


def call(method, path, token, body=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = requests.request(method, API + path, headers=headers, json=body, timeout=60)
    answer.raise_for_status()
    return answer.json() if answer.content else None


def lucky(value):
    """One in two, always the same for the same value."""
    return hashlib.sha256(repr(value).encode()).digest()[0] % 2 == 0


def one_of(things, value):
    return things[hashlib.sha256(repr(value).encode()).digest()[1] % len(things)]


MAYFLIES = []


def mayfly():
    """The token of an agent that may be spent, with a room of its own. Earlier ones go, or the lobby would be full."""
    while len(MAYFLIES) > 20:
        gone = {"Authorization": f"Bearer {MAYFLIES.pop(0)}"}
        # 401 where leaving was what it was made for
        assert requests.delete(f"{API}/me", headers=gone, timeout=60).status_code in (204, 401)
    token = call("POST", "", None, {"name": "Mayfly"})["token"]
    MAYFLIES.append(token)
    return token, call("POST", "/me/private-rooms", token, {"name": "Burrow"})["room"]["catalogId"]


# Calls after which nothing is left to call about are made by an agent of their own.
SPENDING = {"leave", "closeRoom"}


@schemathesis.auth(refresh_interval=None)
class Token:
    def get(self, case, ctx):
        if WORLD["token"] is None:
            return None
        if name(case.operation) not in SPENDING:
            return WORLD["token"]
        token, room = mayfly()
        if lucky(case.path_parameters):
            case.path_parameters = {key: room for key in case.path_parameters or {}}
        return token

    def set(self, case, data, ctx):
        if data is not None:
            case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


def first_real(value, real):
    """A list, also one with commas, keeps its length: too long a one has to stay too long."""
    if isinstance(value, list):
        return [real, *value[1:]]
    return ",".join([real, *value.split(",")[1:]])


def replaceable(value):
    """What was made to be refused (another type, too long a text) has to stay so."""
    return isinstance(value, list) or (isinstance(value, str) and len(value) <= 64)


def with_real(values):
    for key, value in list((values or {}).items()):
        known = WORLD["ids"].get(key)
        if known and replaceable(value) and lucky(value):
            values[key] = first_real(value, one_of(known, value))
    return values


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """All or none: an agent that exists is no use in a room that does not."""
    if not path_parameters or not lucky(path_parameters):
        return path_parameters
    ids = WORLD["ids"]
    return {key: one_of(ids[key], value) if key in ids else value for key, value in path_parameters.items()}


@schemathesis.hook
def map_query(context, query):
    return with_real(query)


@schemathesis.hook
def map_body(context, body):
    return with_real(body) if isinstance(body, dict) else body


@schemathesis.hook
def before_call(context, case, kwargs):
    """No call waits for long; what is no number is left as it is."""
    if name(case.operation) == "waitForMessages" and case.method == "GET":
        given = (case.query or {}).get("wait")
        if given is None or (str(given).isdecimal() and int(given) > 0):
            case.query = {**(case.query or {}), "wait": 0}


@schemathesis.hook
def after_call(context, case, response):
    """An agent that was made leaves again, so that the lobby does not fill up."""
    if name(case.operation) == "join" and response.status_code == 201:
        call("DELETE", "/me", response.json()["token"])

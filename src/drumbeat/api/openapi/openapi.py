"""Makes the OpenAPI document from the table of routes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, get_args, get_origin

import msgspec

from drumbeat.api.http.call import Nothing
from drumbeat.api.http.problem import TITLES
from drumbeat.api.http.route import AnyRoute
from drumbeat.api.openapi.field_docs import field_docs
from drumbeat.wire.problem import MEDIA_TYPE, ProblemView

Json: TypeAlias = dict[str, Any]

REFERENCE = "#/components/schemas/{name}"
OPEN = re.compile(r"\{(\w+)\}")
WHAT = (
    "Jobs, schedules, queues, nodes and elections of a Drumbeat fleet. Errors are problem "
    "documents (RFC 9457). Lists are bare arrays; a Link header says where the next page is."
)
SCHEMES: Json = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token that `drumbeat token create` made. Its scope has to reach as far "
        "as the operation needs: viewer < submitter < operator < admin.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "drumbeat_session",
        "description": "The session of a browser, from POST /login.",
    },
}
LINK = {"Link": 'Where the next page is, with rel="next". Absent on the last one.'}
REASON = {"X-Drumbeat-Reason": "Why, for the audit log; a `reason` in the body will do too."}
OF_REFUSALS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": "How to send a token."},
    429: {"Retry-After": "Seconds after which to try again."},
    503: {"Retry-After": "Seconds after which to try again."},
}


def openapi(routes: Sequence[AnyRoute], version: str) -> Json:
    """The whole document, of version 3.1."""
    schemas = Schemas(routes)
    paths: Json = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Drumbeat",
            "version": version,
            "description": WHAT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": schemas.components, "securitySchemes": SCHEMES},
    }


class Schemas:
    """The schemas of all types in the routes."""

    def __init__(self, routes: Sequence[AnyRoute]) -> None:
        kinds = [kind for route in routes for kind in _kinds(route)] + [ProblemView]
        schemas, self.components = msgspec.json.schema_components(kinds, ref_template=REFERENCE)
        self._schemas = list(zip(kinds, schemas, strict=True))
        for struct in _structs(kinds):
            _describe(self.components.get(struct.__name__, {}), struct)

    def of(self, kind: Any) -> Json:
        """The schema of a type, usually a reference."""
        return next(dict(schema) for each, schema in self._schemas if each is kind or each == kind)

    def properties(self, struct: type) -> Iterator[tuple[str, Json, bool]]:
        """The fields of a struct: name, schema, and whether each has to be given."""
        schema = self.components[struct.__name__]
        required = schema.get("required", ())
        for name, field in schema.get("properties", {}).items():
            yield name, dict(field), name in required


def _kinds(route: AnyRoute) -> Iterator[Any]:
    if route.query is not Nothing:
        yield route.query
    if route.body is not None:
        yield route.body
    if route.returns is not None:
        yield route.returns
    yield from (kind for kind in route.also.values() if kind is not None)


def _structs(kinds: Sequence[Any]) -> set[type[msgspec.Struct]]:
    """All structs, nested ones included."""
    found: set[type[msgspec.Struct]] = set()
    waiting: list[Any] = list(kinds)
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, type) and get_origin(kind) is None:
            if issubclass(kind, msgspec.Struct) and kind not in found:
                found.add(kind)
                waiting += [field.type for field in msgspec.structs.fields(kind)]
        else:
            waiting += get_args(kind)
    return found


def _describe(schema: Json, struct: type[msgspec.Struct]) -> None:
    docs, properties = field_docs(struct), schema.get("properties", {})
    for each in msgspec.structs.fields(struct):
        if each.name in docs and each.encode_name in properties:
            properties[each.encode_name].setdefault("description", docs[each.name])


def _operation(route: AnyRoute, schemas: Schemas) -> Json:
    operation: Json = {
        "operationId": _name(route),
        "summary": route.summary,
        "tags": [route.path.split("/")[1]],
        "responses": _responses(route, schemas),
        "security": [],
    }
    if route.scope is not None:
        operation["description"] = f"Needs the scope `{route.scope}`."
        operation["security"] = [{"token": [str(route.scope)]}, {"session": [str(route.scope)]}]
    parameters = [
        *_path_parameters(route),
        *_query_parameters(route, schemas),
        *_header_parameters(route),
    ]
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        operation["requestBody"] = {
            "required": _needed(route, schemas),
            "content": {"application/json": {"schema": schemas.of(route.body)}},
        }
    return operation


def _name(route: AnyRoute) -> str:
    words = re.findall(r"\w+", route.path)
    return "_".join([route.method.lower(), *words])


def _needed(route: AnyRoute, schemas: Schemas) -> bool:
    body = schemas.components.get(getattr(route.body, "__name__", ""), {})
    return bool(body.get("required"))


def _path_parameters(route: AnyRoute) -> Iterator[Json]:
    for name in OPEN.findall(route.path):
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1},
        }


def _query_parameters(route: AnyRoute, schemas: Schemas) -> Iterator[Json]:
    if route.query is Nothing:
        return
    for name, field, required in schemas.properties(route.query):
        parameter: Json = {"name": name, "in": "query", "required": required}
        description = field.pop("description", None)
        if description:
            parameter["description"] = description
        yield parameter | {"schema": _without_null(field)}


def _header_parameters(route: AnyRoute) -> Iterator[Json]:
    heeded = {**route.headers, **(REASON if route.audited else {})}
    for name, meaning in heeded.items():
        yield {
            "name": name,
            "in": "header",
            "required": False,
            "description": meaning,
            "schema": {"type": "string"},
        }


def _headers(told: Mapping[str, str]) -> Json:
    """The headers of a response."""
    shown = {
        name: {"description": meaning, "schema": {"type": "string"}}
        for name, meaning in told.items()
    }
    return {"headers": shown} if shown else {}


def _without_null(schema: Json) -> Json:
    """The schema without null: a query leaves out what is not wanted."""
    choices = schema.get("anyOf")
    if choices is None:
        return schema
    rest = [choice for choice in choices if choice != {"type": "null"}]
    kept = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    return kept | (rest[0] if len(rest) == 1 else {"anyOf": rest})


def _responses(route: AnyRoute, schemas: Schemas) -> Json:
    responses: Json = {str(route.status): _response(route, schemas)}
    for status, kind in route.also.items():
        responses[str(status)] = {
            "description": "Also an answer.",
            "content": {"application/json": {"schema": schemas.of(kind)}} if kind else {},
            **_headers(route.answers),
        }
    for status in sorted({*_refusals(route), *route.refuses}):
        responses.setdefault(
            str(status),
            {
                "description": TITLES.get(status, "The request was refused"),
                "content": {MEDIA_TYPE: {"schema": schemas.of(ProblemView)}},
                **_headers(OF_REFUSALS.get(status, {})),
            },
        )
    return dict(sorted(responses.items()))


def _response(route: AnyRoute, schemas: Schemas) -> Json:
    response: Json = {"description": route.summary}
    content: Json = {}
    if route.returns is not None:
        content[route.media_type] = {"schema": schemas.of(route.returns)}
    elif route.media_type != "application/json":
        content[route.media_type] = {"schema": {"type": "string"}}
    for media_type in route.other_media_types:
        content[media_type] = {"schema": {"type": "string"}}
    if content:
        response["content"] = content
    pages = LINK if "after" in route.query.__struct_fields__ else {}
    return response | _headers({**route.answers, **pages})


def _refusals(route: AnyRoute) -> Iterator[int]:
    """The statuses of problems that follow from the shape of the route."""
    yield 400
    yield 422
    if "{" in route.path:
        yield 404
    if route.body is not None:
        yield from (408, 413, 415)
    if route.scope is not None:
        yield from (401, 403, 429, 503)

#!/usr/bin/env python3
"""The part of immich's OpenAPI document that crates/immich uses: its tests' server is made from it.
    scripts/immich_api.py immich-openapi-specs.json COMMIT > crates/locdiff/tests/immich/common/openapi.json
The document is open-api/immich-openapi-specs.json of https://github.com/immich-app/immich."""
import json
import sys

USED = [("post", "/search/metadata"), ("get", "/assets/{id}"), ("put", "/assets"), ("get", "/assets/{id}/thumbnail"),
        ("get", "/assets/{id}/ocr")]
# What a test's server needs of a schema: words, patterns and histories stay behind.
KEPT = {"$ref", "allOf", "enum", "items", "maximum", "minimum", "nullable", "properties", "required", "type"}


def bare(schema):
    """A schema without its words."""
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name in KEPT}
    if "properties" in kept:
        kept["properties"] = {name: bare(value) for name, value in kept["properties"].items()}
    for name in ("items",):
        if name in kept:
            kept[name] = bare(kept[name])
    return kept


def refs(value):
    """Names of schemas that a value refers to."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "$ref":
                yield inner.rsplit("/", 1)[1]
            else:
                yield from refs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from refs(inner)


# Answers hold much that nobody here reads: these are left as they are, objects of any kind.
FAR = {"UserResponseDto", "PersonResponseDto", "PersonWithFacesResponseDto", "AssetFaceWithoutPersonResponseDto", "TagResponseDto",
       "AssetStackResponseDto", "SearchFacetResponseDto", "SearchAlbumResponseDto", "AlbumResponseDto"}


def main():
    document = json.load(open(sys.argv[1], encoding="utf-8"))
    paths, wanted = {}, []
    for method, path in USED:
        operation = document["paths"][path][method]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        status, answer = next(iter(operation["responses"].items()))
        schema = answer.get("content", {}).get("application/json", {}).get("schema")
        parameters = [{"name": one["name"], "in": one["in"], "schema": bare(one["schema"])} for one in operation["parameters"]]
        kept = {"parameters": parameters, "body": body, "status": int(status), "answer": schema, "permission": operation["x-immich-permission"]}
        paths.setdefault(path, {})[method] = kept
        wanted.extend(refs(kept))
    schemas = {}
    while wanted:
        name = wanted.pop()
        if name not in schemas:
            schemas[name] = {"type": "object"} if name in FAR else bare(document["components"]["schemas"][name])
            wanted.extend(refs(schemas[name]))
    made = {
        "origin": f"open-api/immich-openapi-specs.json of https://github.com/immich-app/immich, commit {sys.argv[2]}; (c) immich's authors, AGPL-3.0; "
                  "names and types of what crates/immich uses, by scripts/immich_api.py",
        "version": document["info"]["version"], "paths": paths, "schemas": dict(sorted(schemas.items())),
    }
    print(json.dumps(made, indent=1, sort_keys=True))


main()

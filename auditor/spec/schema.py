"""The JSON Schema of audit.yaml, for editors. Exported to docs/audit.schema.json."""

from __future__ import annotations

from typing import Any

from auditor.spec.grammar import Spec

__all__ = ["SCHEMA_DIALECT", "schema"]

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """The schema. It cannot know the settings of installed plugins, so their blocks are open."""
    body = Spec.model_json_schema(mode="validation")
    return {"$schema": SCHEMA_DIALECT} | body | {"title": "audit.yaml"}

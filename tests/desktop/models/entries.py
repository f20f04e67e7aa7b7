"""What the job `library` tells of a model, without a job."""

from __future__ import annotations

from typing import Any


def entry(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name, "model": f"owner/{name}", "folder": f"/hub/{name}", "source": "hub", "kind": "model",
        "revision": None, "architecture": "LlamaForCausalLM", "parameters": 10**9, "dtype": "bfloat16", "size": 10**9,
        "context": 8192, "licence": "mit", "template": True, "shared": True, "complete": True, "problem": None,
        "ready": True, "drafters": [
            {"name": "none", "available": True, "reason": None},
            {"name": "twin", "available": False, "reason": "drafter.no_linear"},
            {"name": "ngram", "available": True, "reason": None},
        ], **changes,
    }  # fmt: skip

"""Settings and requests check themselves and name the field that is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from inference.messages import Problem
from inference.settings import ModelChoice, Request, Sampling, Speculation


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Sampling(repetition_penalty=0), "repetition_penalty"),
        (lambda: Sampling(repetition_penalty=float("nan")), "repetition_penalty"),
        (lambda: Sampling(temperature=-1), "temperature"),
        (lambda: Sampling(top_p=0), "top_p"),
        (lambda: Sampling(temperature="warm"), "temperature"),  # type: ignore[arg-type]
        (lambda: Sampling(seed=-1), "seed"),
        (lambda: Request(1, (), max_new_tokens=0), "max_new_tokens"),
        (lambda: Request(1, (), max_new_tokens=-5), "max_new_tokens"),
        (lambda: Request(1, (), stop=("",)), "stop"),
        (lambda: Speculation(k=-1), "k"),
        (lambda: Speculation(k=True), "k"),
        (lambda: ModelChoice(context=1), "context"),
        (lambda: ModelChoice(dtype="int3"), "dtype"),
    ],
)
def test_b07_bad_settings_name_their_field(make: Any, field: str) -> None:
    with pytest.raises(Problem) as caught:
        make()
    assert caught.value.notice.values["field"] == field
    assert field in str(caught.value)

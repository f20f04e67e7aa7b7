"""How many kernels some work launches, counted: PyTorch's operations that are no views, and Triton's launches."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from inference.quantize import triton_choice, triton_eight_bit, triton_low_bit, triton_steps

if TYPE_CHECKING:
    from collections.abc import Callable

KERNELS = (
    (triton_steps, ("add_norm", "gated", "turn_and_write", "attend", "gather", "round_rows_kernel", "keyed_noise")),
    (triton_low_bit, ("low_bit_product",)),
    (triton_eight_bit, ("eight_bit_product",)),
    (triton_choice, ("choose",)),
)
NO_KERNEL = ("aten.empty", "aten._to_copy.default", "aten.lift_fresh")


class _Counter(TorchDispatchMode):
    """Counts operations as they reach the device. An operation that returns a view of its input launches nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.names: dict[str, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func)
        view = any(kind.alias_info is not None and not kind.alias_info.is_write for kind in func._schema.returns)
        if not view and not name.startswith(NO_KERNEL):
            self.launched(name)
        return func(*args, **(kwargs or {}))

    def launched(self, name: str) -> None:
        self.count += 1
        self.names[name] = self.names.get(name, 0) + 1


class _Counted:
    """A kernel whose launches are counted. What it does inside, where it is interpreted, is not."""

    def __init__(self, kernel: Any, counter: _Counter, name: str) -> None:
        self._kernel, self._counter, self._name = kernel, counter, name

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        def launch(*arguments: Any, **options: Any) -> Any:
            self._counter.launched(self._name)
            with torch.utils._python_dispatch._disable_current_modes():
                return self._kernel[grid](*arguments, **options)

        return launch


def launches(work: Callable[[], object]) -> dict[str, int]:
    """Launches of one run of ``work`` by name. It is run once before, so that what is made once is not counted."""
    work()
    counter = _Counter()
    with ExitStack() as stack:
        for module, names in KERNELS:
            for name in names:
                stack.enter_context(patch.object(module, name, _Counted(getattr(module, name), counter, name)))
        stack.enter_context(counter)
        work()
    return counter.names


def operations(work: Callable[[], object]) -> int:
    """How many launches in all."""
    return sum(launches(work).values())

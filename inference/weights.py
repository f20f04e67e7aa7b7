"""A model's weights read from its files one at a time, into memory of their own, when they are asked for.

A loader that maps the files keeps their pages beside what is made of them, and a file that shrinks meanwhile kills the
process. Knows safetensors and modules whose weights are not there yet (on the meta device), not what they compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import torch
from torch import nn

from inference.messages import Problem
from inference.models import contents, headers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
"""What models are stored in."""

MATRICES = (nn.Linear, nn.Embedding)
"""Modules whose weights may be kept as they are stored."""

OTHERS = {"I32": torch.int32, "U8": torch.uint8}


class Weights:
    """Of one module without weights. ValueError unless the folder's files hold exactly them; ``name`` is for messages.

    They take the module's precision as they are read; with ``keeps``, matrices and embeddings for which it says yes
    (a weight as it is stored, without memory, and that precision) stay as they are stored.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        module: nn.Module,
        keeps: Callable[[torch.Tensor, torch.dtype], bool] = lambda *_: False,
    ) -> None:
        self._name = name
        self._keeps = keeps
        self._files = {path: headers.read(path) or {} for path in contents.weights(folder, name)}
        self._places = {key: (path, tensor) for path, held in self._files.items() for key, tensor in held.items()}
        wanted = dict(module.named_parameters())
        if wanted.keys() != self._places.keys() or any(buffer.is_meta for buffer in module.buffers()):
            raise ValueError("other weights")
        for key, parameter in wanted.items():
            tensor = self._places[key][1]
            if tensor.kind not in DTYPES or tensor.shape != tuple(parameter.shape):
                raise ValueError(key)
        self._keys = {id(parameter): key for key, parameter in wanted.items()}
        owned = [id(parameter) for owner in module.modules() for parameter in owner.parameters(recurse=False)]
        self._shared = {key for key in owned if owned.count(key) > 1} if len(owned) > len(wanted) else set()
        self._read: WeakValueDictionary[int, nn.Parameter] = WeakValueDictionary()

    def fill(self, module: nn.Module) -> None:
        """Read what is not there yet of the module or a part of it. Raises Problem when a file ends too early."""
        for owner in module.modules():
            for key, empty in list(owner.named_parameters(recurse=False)):
                if not empty.is_meta:
                    continue
                found = self._read.get(id(empty))
                if found is None:
                    key_there = self._keys[id(empty)]
                    dtype = (
                        self._kept(key_there, empty.dtype)
                        if empty.ndim == 2 and type(owner) in MATRICES
                        else empty.dtype
                    )
                    found = nn.Parameter(self._tensor(key_there, dtype), requires_grad=False)
                    if id(empty) in self._shared:
                        self._read[id(empty)] = found
                setattr(owner, key, found)

    def _kept(self, key: str, dtype: torch.dtype) -> torch.dtype:
        """The precision that a matrix keeps."""
        stored = DTYPES[self._places[key][1].kind]
        narrow = stored.itemsize < dtype.itemsize and self._keeps(torch.empty(0, 0, dtype=stored, device="meta"), dtype)
        return stored if narrow else dtype

    def _tensor(self, key: str, dtype: torch.dtype) -> torch.Tensor:
        path, place = self._places[key]
        try:
            return read(path, place).to(dtype)
        except OSError as error:
            detail = f"{path.name} cannot be read ({error.strerror or error})"
            raise Problem("error.model_damaged", model=self._name, detail=detail) from None


def read(path: Path, place: headers.Tensor) -> torch.Tensor:
    """One tensor of a safetensors file. OSError when the file cannot be read or ends too early."""
    found = torch.empty(place.shape, dtype=(DTYPES | OTHERS)[place.kind])
    memory = found.view(-1).view(torch.uint8).numpy().data
    with path.open("rb", buffering=0) as file:
        file.seek(8 + int.from_bytes(file.read(8), "little") + place.start)
        while memory:
            count = file.readinto(memory)
            if not count:
                raise OSError("it ends too early")
            memory = memory[count:]
    return found

"""A model cut into several GGUF files: whether its parts belong together, and joining them into one file.

transformers reads single files only. The gguf package copies the figures of the first part and the tensors of all.
Joining needs room for one more copy, and is done by a child process like all of an import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from inference.messages import Notice, Problem
from inference.models import gguf_header

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from inference.models.gguf_header import Header
    from inference.models.starter import Progress

OWN = "split."
"""Figures of a part that the whole has not."""


def name(first: Path) -> str:
    """What the whole is called; a single file by its own name."""
    match = gguf_header.PART.fullmatch(first.name)
    return match["stem"] if match else first.stem


def read(files: Sequence[Path]) -> Header:
    """The header of a whole set, first part first; of a single file its own. Places of tensors are the parts' own.

    Raises Problem when a part is damaged, or says that it is part of another set.
    """
    headers = [gguf_header.read(file) for file in files]
    first = headers[0]
    if len(files) == 1:
        return first
    tensors: dict[str, gguf_header.Tensor] = {}
    for number, (file, header) in enumerate(zip(files, headers, strict=True)):
        own, count = header.values.get("split.no"), header.values.get("split.count")
        if (own, count) != (number, len(files)):
            found = f"part {own + 1} of {count}" if isinstance(own, int) and isinstance(count, int) else "no part"
            _refuse(file, f"by its header it is {found}, by its name part {number + 1} of {len(files)}")
        if header.architecture not in ("", first.architecture):
            _refuse(file, f"it is of the kind {header.architecture}, the first part of {first.architecture}")
        if twice := next((key for key in header.tensors if key in tensors), None):
            _refuse(file, f"it holds {twice}, which another part holds, too")
        tensors |= header.tensors
    expected = first.values.get("split.tensors.count", len(tensors))
    if expected != len(tensors):
        _refuse(files[0], f"the parts hold {len(tensors)} tensors, and it names {expected}")
    values = {key: value for key, value in first.values.items() if not key.startswith(OWN)}
    return gguf_header.Header(values, tensors, first.data)


def join(files: Sequence[Path], target: Path, progress: Progress) -> None:
    """Write the parts of a set, which `read` found whole, as one file. Raises Problem with what is wrong."""
    gguf: Any = importlib.import_module("gguf")
    readers = [gguf.GGUFReader(file) for file in files]
    first = readers[0]
    writer = gguf.GGUFWriter(target, first.fields["general.architecture"].contents())
    writer.data_alignment = first.alignment
    for field in first.fields.values():
        if field.name.startswith((OWN, "GGUF.")) or field.name == "general.architecture":
            continue
        kind = field.types[0]
        of = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, sub_type=of)
    tensors = [(file, tensor) for file, reader in zip(files, readers, strict=True) for tensor in reader.tensors]
    for _, tensor in tensors:
        data = tensor.data
        writer.add_tensor_info(tensor.name, data.shape, data.dtype, data.nbytes, tensor.tensor_type)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        total, done = max(1, sum(int(tensor.n_bytes) for _, tensor in tensors)), 0
        for file, tensor in tensors:
            progress(Notice("convert.reading", {"model": file.name}), done / total)
            writer.write_tensor_data(tensor.data)
            done += int(tensor.n_bytes)
    except OSError as error:
        raise Problem("error.file", file=str(target), detail=error.strerror or str(error)) from error
    finally:
        writer.close()


def _refuse(file: Path, detail: str) -> None:
    raise Problem("error.gguf_damaged", model=file.name, detail=detail)

"""The weights of a GGUF file as they are meant, in OpenVINO's own format.

OpenVINO GenAI reads a GGUF file's groups of four-bit weights as ``scale x (code - zero point)`` and rounds the zero
point to a whole number. Groups that hold a scale and a minimum (Q4_1, Q4_K) have whole zero points by chance alone, so
that each of their weights is off by up to half a step. Here the zero points are written as the file has them.
"""

from __future__ import annotations

import gc
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from leadline.data.cache import cache_folder
from leadline.errors import ModelError, require

if TYPE_CHECKING:
    from gguf import GGUFReader, ReaderTensor

_FORMAT = 1
"""Part of the folder's name: raise it when what is written changes."""

IR_MODEL = "openvino_model.xml"
_AS_IT_IS = "zero_points_are_whole"
"""A file that says that OpenVINO reads the GGUF file as it is meant."""

_TOLERANCE = 0.02
"""Steps by which a weight may differ from scale x (code - zero point): scales have half the digits of a float."""

Weights = npt.NDArray[np.float32]


def exact_model(file: Path, sha256: str) -> Path:
    """What to load for a GGUF file: the file itself, or a folder in OpenVINO's format that is made once and kept.

    Raises:
        ModelError: OpenVINO cannot load the file, the cache cannot be written, or a tensor of the file is not found
            again in what OpenVINO makes of it.
    """
    version = require("openvino_genai", "local").__version__
    folder = cache_folder() / f"openvino-{sha256[:12]}-{version.split('-')[0]}-{_FORMAT}"
    if not folder.is_dir():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-") as work:
                _put_in_place(_made(file, Path(work)), folder)
        except OSError as error:
            raise ModelError(
                f"{folder.parent} cannot be written ({error.strerror or error}): make room, or set LEADLINE_CACHE to "
                "another one"
            ) from error
    return file if (folder / _AS_IT_IS).is_file() else folder


def _put_in_place(made: Path, folder: Path) -> None:
    try:
        made.rename(folder)
    except OSError:
        if not folder.is_dir():  # another process was quicker
            raise


def _made(file: Path, work: Path) -> Path:
    """The finished folder, in the working folder."""
    openvino = require("openvino", "local")
    source, target = work / "as_read", work / "exact"
    source.mkdir()
    target.mkdir()
    _save_as_read(file, source)
    model = openvino.Core().read_model(source / IR_MODEL)
    if not _put_right(model, file):
        (target / _AS_IT_IS).touch()
        return target
    openvino.save_model(model, str(target / IR_MODEL), compress_to_fp16=False)
    del model
    gc.collect()  # the weights' file is mapped until then, and cannot be removed on every system
    for other in source.iterdir():
        if other.suffix in {".xml", ".bin", ".json"} and not (target / other.name).exists():
            shutil.copy(other, target / other.name)
    return target


def _save_as_read(file: Path, folder: Path) -> None:
    """Let OpenVINO GenAI write what it makes of the file; it does so beside the file, so that gets a second name."""
    genai = require("openvino_genai", "local")
    second = folder / "model.gguf"
    try:
        second.symlink_to(file.resolve())
    except OSError:  # not allowed to everybody on Windows
        shutil.copy(file, second)
    try:
        genai.LLMPipeline(str(second), "CPU", enable_save_ov_model=True)
    except RuntimeError as error:
        raise ModelError(f"OpenVINO cannot load {file}: {str(error).strip().splitlines()[-1]}") from error
    if not (folder / IR_MODEL).is_file():
        raise ModelError(f"OpenVINO cannot write what it makes of {file}: use --model llamacpp/{file}")


@dataclass(frozen=True, slots=True)
class _Group:
    """Four-bit weights in a model's graph.

    Attributes:
        node: subtracts the zero points.
        codes: whole numbers, shape (rows, groups, size).
        zero_points, scales: shape (rows, groups, 1).
    """

    node: Any
    codes: Weights
    zero_points: Weights
    scales: Weights

    def exact_zero_points(self, weights: Weights) -> Weights | None:
        """Those with which the weights, of shape (rows, groups x size), come out; None where none do."""
        scales = np.where(self.scales == 0, 1, self.scales)
        points = self.codes - weights.reshape(self.codes.shape) / scales
        exact = points.mean(axis=-1, keepdims=True)
        off = np.abs(points - exact)[self.scales[..., 0] != 0]
        return exact if off.size == 0 or off.max() <= _TOLERANCE else None


def _put_right(model: Any, file: Path) -> bool:
    """Replace the zero points that were rounded; whether there were any.

    Raises:
        ModelError: weights in the graph are those of no tensor of the file.
    """
    from gguf import GGUFReader
    from openvino import opset13

    reader = GGUFReader(file)
    heads = _heads(reader)
    rounded = False
    for group in _groups(model):
        exact = _exact(group, reader, heads)
        if exact is None:
            raise ModelError(
                f"OpenVINO changes the weights in {file} when it reads them, and they cannot be put right: "
                f"use --model llamacpp/{file}"
            )
        if np.abs(exact - group.zero_points).max() > _TOLERANCE:
            constant = opset13.constant(exact.astype(np.float16))
            group.node.input(1).replace_source_output(constant.output(0))
            rounded = True
    return rounded


def _groups(model: Any) -> Iterator[_Group]:
    """Every Multiply(Subtract(Convert(codes), Convert(zero points)), scales) with four-bit codes."""
    for node in list(model.get_ops()):
        if node.get_type_name() != "Subtract":
            continue
        codes, points = (_four_bits(node.input(number).get_source_output().get_node()) for number in (0, 1))
        if codes is None or points is None:
            continue
        (user,) = node.output(0).get_target_inputs()
        scales = user.get_node().input(1).get_source_output().get_node()
        yield _Group(node, codes, points, np.asarray(scales.get_data(), dtype=np.float32).reshape(points.shape))


def _four_bits(convert: Any) -> Weights | None:
    if convert.get_type_name() != "Convert":
        return None
    constant = convert.input(0).get_source_output().get_node()
    if constant.get_type_name() != "Constant" or constant.get_element_type().get_type_name() != "u4":
        return None
    shape = tuple(constant.output(0).get_shape())
    packed = np.asarray(constant.get_data(), dtype=np.uint8).ravel()
    codes = np.stack([packed & 15, packed >> 4], axis=1).ravel()  # the lower half of a byte comes first
    return codes[: int(np.prod(shape))].astype(np.float32).reshape(shape)


def _heads(reader: GGUFReader) -> Mapping[str, int]:
    """Attention heads by the part of a tensor's name: files of Llama's kind store their rows in another order."""
    counts: dict[str, int] = {}
    for name, field in reader.fields.items():
        for key, part in ((".attention.head_count", "attn_q"), (".attention.head_count_kv", "attn_k")):
            if name.endswith(key) and isinstance(told := field.contents(), int):  # some files have one for each layer
                counts[part] = told
    return counts


def _exact(group: _Group, reader: GGUFReader, heads: Mapping[str, int]) -> Weights | None:
    """The zero points of the tensor whose weights these are; its first row, which keeps its place, tells which."""
    rows, groups, size = group.codes.shape
    first = _Group(group.node, group.codes[:1], group.zero_points[:1], group.scales[:1])
    for tensor in reader.tensors:
        if tuple(int(length) for length in tensor.shape) != (groups * size, rows):
            continue
        if first.exact_zero_points(_dequantized(tensor, 1)) is None:
            continue
        weights = _dequantized(tensor, rows)
        for ordered in (weights, *(_reordered(weights, heads[part]) for part in heads if part in tensor.name)):
            if (exact := group.exact_zero_points(ordered)) is not None:
                return exact
    return None


def _dequantized(tensor: ReaderTensor, rows: int) -> Weights:
    """The first rows of a tensor."""
    from gguf import dequantize

    return cast("Weights", dequantize(tensor.data[:rows], tensor.tensor_type)).astype(np.float32)


def _reordered(weights: Weights, heads: int) -> Weights:
    """Rows in the order of Hugging Face's rotary embedding, from that of a GGUF file: halves, not pairs."""
    rows = weights.reshape(heads, len(weights) // heads // 2, 2, -1)
    return rows.swapaxes(1, 2).reshape(weights.shape)

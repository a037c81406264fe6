"""The model in the box as OpenVINO computes it: the file's weights, and the answers of llama.cpp."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline.data.cache import sha256_of
from leadline.data.loading import load_local_model_path
from leadline.data.sources import Sources
from leadline.errors import DataError
from leadline.models.openvino_weights import exact_model
from leadline.models.registry import ModelOptions, open_model
from leadline.prompt import request_for
from leadline.run.framing import open_sampler
from leadline.scoring.matching import recall
from leadline.spec import resolve
from leadline.tasks.registry import make_task

pytestmark = pytest.mark.local_model


@pytest.fixture(scope="module")
def box() -> Path:
    for engine in ("openvino_genai", "xllamacpp"):
        pytest.importorskip(engine)
    try:
        return load_local_model_path()
    except DataError as error:
        pytest.skip(f"the model in the box was not asked: {error}")


def constants(node: Any) -> Any:
    """The numbers in a graph that is made of constants alone."""
    openvino: Any = importlib.import_module("openvino")
    model = openvino.Model([node], [])
    return openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([])[0]


def test_the_weights_are_those_of_the_file(box: Path) -> None:
    gguf: Any = importlib.import_module("gguf")
    openvino: Any = importlib.import_module("openvino")
    folder = exact_model(box, sha256_of(box))
    assert folder.is_dir()
    model = openvino.Core().read_model(folder / "openvino_model.xml")
    # Rows keep their order in a feed-forward tensor, and its shape is no other's in the layer.
    shape = openvino.PartialShape([1536, 576])
    found = [
        constants(operation.input_value(1))
        for operation in model.get_ops()
        if operation.get_type_name() == "MatMul" and operation.input_value(1).get_partial_shape() == shape
    ]
    wanted = [
        gguf.dequantize(tensor.data, tensor.tensor_type)
        for tensor in gguf.GGUFReader(box).tensors
        if "ffn_gate" in tensor.name or "ffn_up" in tensor.name
    ]
    assert len(found) == len(wanted) == 60
    for weights in wanted[:4]:
        nearest = min(float(np.abs(weights - other).max()) for other in found)
        assert nearest < 0.002 * float(np.abs(weights).max())


async def answers(model: str, indices: range) -> list[tuple[str, float]]:
    """Hash of the prompt and score of some items."""
    backend = open_model(model, ModelOptions())
    try:
        sampler = open_sampler(resolve("quick", {"model": model}), backend, Sources())
        task = make_task("niah_multikey_1")
        told: list[tuple[str, float]] = []
        for index in indices:
            plan = sampler.plan(task, index)
            fit = sampler.fit(task, plan, 512)
            assert fit is not None
            sample = sampler.sample(task, plan, fit, 512)
            response = await backend.answer(request_for(sample, sampler.frame))
            assert response.finish_reason == "stop"
            told.append((sample.prompt_hash, recall(response.text or "", plan.answers)))
        return told
    finally:
        await backend.aclose()


async def test_it_answers_as_llama_cpp_does(box: Path) -> None:
    ours = await answers("local", range(4))
    theirs = await answers("llamacpp/local", range(4))
    assert ours == theirs
    assert sum(score for _, score in ours) >= 2

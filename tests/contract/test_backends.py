import pytest

from leadline.models.readers import READERS
from leadline.models.registry import ModelOptions, open_model
from leadline.prompt import request_for
from leadline.tasks.registry import make_task
from leadline.testing import check_backend

from .conftest import sampler


@pytest.mark.parametrize("name", list(READERS))
async def test_every_reader_keeps_the_contract(name: str) -> None:
    task, made = make_task("niah_single_1"), sampler("cl100k_base")
    plan = made.plan(task, 0)
    fit = made.fit(task, plan, 1024)
    assert fit is not None
    values = [f"{option}=100" for option in READERS[name].options]  # tokens, or per cent
    query = "&".join(values)
    backend = open_model(f"reader/{name}" + (f"?{query}" if query else ""), ModelOptions())
    response = await check_backend(backend, request_for(made.sample(task, plan, fit, 1024), made.frame))
    assert response.finish_reason == "stop"


@pytest.mark.local_model
async def test_the_model_in_the_box_keeps_the_contract() -> None:
    pytest.importorskip("openvino_genai", reason="the extra `local` is not installed")
    task, made = make_task("niah_single_1"), sampler("smollm2")
    plan = made.plan(task, 0)
    fit = made.fit(task, plan, 512)
    assert fit is not None
    sample = made.sample(task, plan, fit, 512)
    response = await check_backend(open_model("local", ModelOptions()), request_for(sample, made.frame))
    assert response.prompt_tokens == fit.prompt_tokens
    assert sample.plan.answers[0][0] in (response.text or "")

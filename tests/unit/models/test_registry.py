"""From a model's name to its backend: the forms there are, and other packages' backends."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadline.errors import ModelError, UsageError
from leadline.models.registry import KINDS, ModelOptions, open_model
from leadline.requests import Request
from leadline.spec import resolve
from leadline.testing import check_backend

PLUGIN = Path(__file__).parents[2] / "plugins" / "leadline-parrot" / "src" / "leadline_parrot"
METADATA = "Metadata-Version: 2.1\nName: leadline-parrot\nVersion: 1.0.0\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The example package as an installer would leave it, with two entry points more that are broken."""
    shutil.copytree(PLUGIN, tmp_path / "leadline_parrot")
    info = tmp_path / "leadline_parrot-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(
        "[leadline.models]\nparrot = leadline_parrot:open_parrot\ngone = leadline_nowhere:open\n"
        "odd = leadline_parrot:WORDS\nopenai = leadline_parrot:open_parrot\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("leadline_parrot", None)


@pytest.mark.usefixtures("installed")
async def test_a_backend_of_another_package_keeps_the_contract() -> None:
    backend = open_model("parrot/grey/2", ModelOptions())
    assert backend.facts().name == "parrot/grey/2"
    response = await check_backend(backend, Request(max_tokens=20, text="one two three four five six"))
    assert response.text == "two three four five six"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("name", "reason"), [("gone/x", "leadline_nowhere"), ("odd/x", "not callable")])
def test_a_package_that_cannot_be_loaded_is_named(name: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason) as error:
        open_model(name, ModelOptions())
    assert "package leadline-parrot" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("installed")
def test_other_packages_forms_are_told_and_ours_come_first() -> None:
    with pytest.raises(UsageError, match=r"parrot/\.\.\.") as error:
        open_model("nothing/x", ModelOptions())
    assert all(kind.form in str(error.value) for kind in KINDS.values())
    with pytest.raises(UsageError, match="OPENAI_API_KEY"), pytest.MonkeyPatch.context() as context:
        context.delenv("OPENAI_API_KEY", raising=False)
        context.delenv("OPENAI_BASE_URL", raising=False)
        open_model("openai/x", ModelOptions())


def test_a_kind_without_a_name_is_refused() -> None:
    for name in ("openai", "openai/", "hf", ""):
        with pytest.raises(UsageError, match="there is no model"):
            open_model(name, ModelOptions())


def test_options_come_from_the_spec_and_the_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-planted")
    given = {"base_url": "http://h:1/v1/", "api_key_env": "SOME_KEY", "reasoning_tokens": 7, "endpoint": "completions"}
    options = ModelOptions.of(resolve("quick", given))
    assert (options.base_url, options.api_key, options.reasoning_tokens) == ("http://h:1/v1", "sk-planted", 7)
    assert "sk-planted" not in repr(options)
    monkeypatch.delenv("SOME_KEY")
    with pytest.raises(UsageError, match="SOME_KEY"):
        ModelOptions.of(resolve("quick", given))


@pytest.mark.parametrize(
    ("url", "reason"),
    [("localhost:8000", "no address"), ("http://u:secret@h/v1", "--api-key-env"), ("http://h/v1?key=secret", "query")],
)
def test_an_address_with_a_key_in_it_is_refused(url: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as error:
        resolve("quick", {"base_url": url})
    assert "secret" not in str(error.value)

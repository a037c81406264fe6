"""What cannot be done: one line that names it, exit code 2, nothing on standard output, nothing lost."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline import data
from leadline.cli import VERBS
from leadline.suites import suite_names

from .conftest import Ended, Invoke, Shell

RUN = ("run", "quick", "--model", "reader/oracle", "--tasks", "niah_single_1", "--lengths", "1k", "--samples", "1")
needs_openvino = pytest.mark.skipif(
    importlib.util.find_spec("openvino_genai") is None, reason="openvino_genai is not installed (extra: local)"
)


def run(*changes: str) -> tuple[str, ...]:
    return (*RUN, *changes)


MISTAKES: list[tuple[tuple[str, ...], str]] = [
    (run("--claim", "effective"), "--claim effective is for --stop certain"),
    (run("--margin", "2"), "--margin 2.0 is for --stop certain"),
    (("measure",), "'measure'"),
    (("run", "quik", "--model", "reader/oracle"), "'quik': did you mean quick"),
    (("run", "quick", "extra"), "extra"),
    (run("--tasks", "niah_singel_1"), "'niah_singel_1': did you mean niah_single_1"),
    (run("--tasks", ","), "','"),
    (run("--model", "gpt-9"), "'gpt-9'"),
    (run("--model", "reader/orakel"), "'orakel'"),
    (run("--model", "reader/window?token=5"), "'token'"),
    (run("--model", "reader/window?tokens=many"), "'many'"),
    (run("--model", "openvino/no-such.gguf"), "no-such.gguf"),
    (run("--model", "openvino/notes.txt"), "notes.txt"),
    (run("--tokenizer", "tiktoken/gpt9"), "'tiktoken/gpt9'"),
    (run("--tokenizer", "gguf/notes.txt"), "notes.txt"),
    (run("--tokenizer", "hf/notes.txt"), "notes.txt"),
    (run("--template", "llama9"), "'llama9'"),
    (run("--lenghts", "4k"), "--lenghts"),
    (run("--samples"), "--samples"),
    (run("--samples", "-1"), "-1"),
    (run("--samples", "0"), "0"),
    (run("--samples", "x"), "'x'"),
    (run("--lengths", "0"), "'0'"),
    (run("--lengths", "abc"), "'abc'"),
    (run("--lengths", "5M"), "'5M'"),
    (run("--lengths", ","), "','"),
    (run("--lengths", "100"), "at length 100 no task fits: the smallest sample (niah_single_1) takes"),
    (run("--seed", "-5"), "-5"),
    (run("--max-tokens", "0"), "0"),
    (run("--concurrency", "0"), "0"),
    (run("--limit-tokens", "-3"), "-3"),
    (run("--order", "random"), "'random'"),
    (run("--shard", "3/2"), "'3/2'"),
    (run("--set", "nosuch.num_keys=2"), "'nosuch'"),
    (run("--set", "niah.keys=2"), "'keys': did you mean num_keys"),
    (run("--set", "niah.num_keys=0"), "num_keys = 0"),
    (run("--set", "niah.num_keys=many"), "'many'"),
    (run("--set", "niah.type_haystack=hay"), "'hay'"),
    (run("--set", "niah.num_keys"), "'niah.num_keys'"),
    (run("--set", "num_keys=2"), "'num_keys=2'"),
    (run("--set", "niah.num_keys=["), "'['"),
    (run("--spec", "none.yaml"), "none.yaml"),
    (run("--spec", "broken.yaml"), "broken.yaml is not YAML"),
    (run("--spec", "notes.txt"), "notes.txt holds no keys"),
    (run("--spec", "typo.yaml"), "'sampels': did you mean samples"),
    (run("--fail-under", "far"), "'far'"),
    (run("--out", "notes.txt"), "notes.txt"),
    (("sample", "nosuch"), "'nosuch'"),
    (("sample", "vt", "--length", "200"), "its smallest sample takes"),
    (("sample", "vt", "--index", "-1"), "-1"),
    (("sample",), "'task'"),
    (("tasks", "nosuch"), "'nosuch'"),
    (("data", "get", "nosuch"), "'nosuch'"),
    (("data", "got"), "'got'"),
    (("score", "nowhere"), "nowhere is not a run's folder"),
    (("report", "nowhere"), "nowhere is not a run's folder"),
    (("score", "notes.txt"), "notes.txt is not a run's folder"),
    (("score", "other-version"), "format 99"),
    (("score", "unreadable"), "run.json cannot be read"),
    (("score", "incomplete"), "run.json is incomplete"),
    (("score", "damaged"), "line 1 is damaged"),
    (("report", "damaged"), "line 1 is damaged"),
    (("report", "whole", "-o", "no-such-folder/page.html"), "no-such-folder"),
    (("report", "whole", "-o", "."), ". cannot be written"),
    (("report",), "'folder'"),
]


def is_one_line(ended: Ended, named: str) -> bool:
    return (
        ended.code == 2
        and ended.out == ""
        and ended.err.startswith("leadline: ")
        and ended.err.count("\n") == 1
        and ended.err.endswith("\n")
        and named in ended.err
    )


@pytest.fixture(scope="module")
def template_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is whole."""
    from leadline.cli import main

    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr("sys.argv", ["leadline", *RUN, "--out", str(folder / "runs")])
        main()
    return next(iter((folder / "runs").glob("*/*")))


@pytest.fixture
def littered(shell: Shell, template_run: Path) -> Shell:
    """A folder with everything that the mistakes point to."""
    folder = shell.folder
    (folder / "notes.txt").write_text("Some notes.\n")
    (folder / "broken.yaml").write_text("samples: [1\n")
    (folder / "typo.yaml").write_text("sampels: 3\n")
    for name in ("other-version", "unreadable", "incomplete", "damaged", "whole"):
        shutil.copytree(template_run, folder / name)
    manifest = json.loads((template_run / "run.json").read_text())
    (folder / "other-version" / "run.json").write_text(json.dumps(manifest | {"format": 99}))
    (folder / "unreadable" / "run.json").write_text("{")
    del manifest["spec"]
    (folder / "incomplete" / "run.json").write_text(json.dumps(manifest))
    (records,) = (folder / "damaged").glob("records-*.jsonl")
    records.write_bytes(b'{"key": \n' + records.read_bytes())
    return shell


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("arguments", "named"), MISTAKES, ids=[" ".join(arguments) for arguments, _ in MISTAKES])
def test_a_mistake_is_one_line(
    littered: Shell, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], named: str
) -> None:
    if any("openvino/" in argument for argument in arguments) and importlib.util.find_spec("openvino_genai") is None:
        pytest.skip("openvino_genai is not installed (extra: local)")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    before = contents(littered.folder)
    ended = invoke(*arguments)
    assert is_one_line(ended, named), ended
    assert contents(littered.folder) == before, "nothing is written and nothing is lost"


def test_the_same_holds_in_a_process_of_its_own(littered: Shell) -> None:
    ended = littered("run", "quick", "--model", "reader/orakel")
    assert is_one_line(ended, "'orakel'"), ended


def test_no_arguments_show_the_help(shell: Shell, invoke: Invoke) -> None:
    ended = invoke()
    assert ended.code == 2
    assert all(verb in ended.out for verb in VERBS)
    assert invoke("--help").out == ended.out
    assert invoke("--version").out.startswith("leadline ")


def test_a_damaged_record_is_left_out_on_demand(littered: Shell, invoke: Invoke) -> None:
    ended = invoke("score", "damaged", "--skip-damaged", "--json")
    assert ended.code == 0
    assert "1 damaged record line" in ended.err
    assert [cell["n"] for cell in ended.json["cells"]] == [1]


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (run(), "cl100k_base"),
        (("sample", "niah_single_2"), "cl100k_base"),
        (("data", "get", "essays"), "essays"),
        pytest.param(("run", "quick"), "smollm2-135m-instruct", marks=needs_openvino),
    ],
    ids=["run", "sample", "data", "local"],
)
def test_offline_with_nothing_cached_is_one_line(
    shell: Shell, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], missing: str
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(shell.folder / "cache"))
    ended = invoke(*arguments, "--offline")
    assert is_one_line(ended, missing), ended
    assert f"leadline data get {missing}" in ended.err


@pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="pip is not installed")
def test_no_network_and_nothing_cached_is_one_line(
    shell: Shell, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(shell.folder / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    ended = invoke(*run())
    assert is_one_line(ended, "bpe-openai"), ended
    assert "network" in ended.err
    assert not (shell.folder / "runs").exists()


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def turned(content: bytes) -> bytes:
    return content[:1000] + bytes([content[1000] ^ 1]) + content[1001:]


@pytest.mark.parametrize("damage", [cut, turned])
def test_a_corrupted_download_is_one_line(
    shell: Shell, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, damage: Callable[[bytes], bytes]
) -> None:
    content = data.path("cl100k_base").read_bytes()
    monkeypatch.setenv("LEADLINE_CACHE", str(shell.folder / "cache"))
    file = data.path("cl100k_base")
    file.parent.mkdir(parents=True)
    file.write_bytes(damage(content))
    ended = invoke(*run())
    assert is_one_line(ended, str(file)), ended
    assert "leadline data get cl100k_base --again" in ended.err
    listed = {entry["name"]: entry["state"] for entry in invoke("data", "list", "--json").json}
    assert listed["cl100k_base"] == "damaged"


def test_the_suites_are_there() -> None:
    assert {"quick", "ruler"} <= set(suite_names())

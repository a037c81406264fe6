"""The official NoLiMa files, from a hub that is made here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError
from typer.testing import CliRunner

from leadline.cli.data import app
from leadline.data.books import load_books
from leadline.data.needle_files import OFFICIAL_FILES, load_needles, official_folder
from leadline.data.nolima_official import FILES, get_official, official_status
from leadline.errors import DataError, UsageError
from tests.unit.needles.official import official_entries


@dataclass
class Hub:
    """Answers for the hub's client with files of a folder, and counts what it was asked."""

    folder: Path
    asked: list[str] = field(default_factory=list[str])
    lost: str | None = None

    def download(self, repo_id: str, filename: str, *, repo_type: str, local_files_only: bool) -> str:
        assert (repo_id, repo_type) == ("amodaresi/NoLiMa", "dataset")
        self.asked.append(filename)
        if local_files_only or filename == self.lost:
            raise LocalEntryNotFoundError("not\nthere")
        file = self.folder / filename
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(official_entries()) if filename.endswith(".json") else f"{filename}\nIt rained.\n"
        file.write_text(text, encoding="utf-8")
        return str(file)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Hub:
    del cache
    made = Hub(tmp_path / "hub")
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", made.download)
    return made


def test_nothing_is_fetched_before_the_licence_is_accepted(hub: Hub) -> None:
    with pytest.raises(UsageError) as caught:
        get_official(accepted=False)
    message = str(caught.value)
    assert "non-commercial" in message
    assert "leadline data get nolima-official --accept-licence" in message
    assert "\n" not in message
    assert caught.value.exit_code == 2
    assert hub.asked == []
    assert official_status().state == "missing"


def test_all_files_are_fetched_and_read(hub: Hub) -> None:
    folder = get_official(accepted=True)
    assert folder == official_folder()
    assert sorted(hub.asked) == sorted(FILES.values())
    assert {f"needlesets/{name}" for name in OFFICIAL_FILES.values()} < set(hub.asked)
    assert len(hub.asked) == 11
    status = official_status(verify=True)
    assert (status.state, set(status.files)) == ("held", set(FILES))
    assert [book.name for book in load_books("official", offline=True)] == [f"rand_book_{n}" for n in range(1, 6)]
    needles = load_needles("official", "default")
    assert needles.name == "nolima"
    assert len(needles.pairs) == 10


def test_what_is_held_is_not_fetched_again(hub: Hub) -> None:
    get_official(accepted=True)
    count = len(hub.asked)
    assert get_official(accepted=False) == official_folder()
    assert len(hub.asked) == count
    with pytest.raises(UsageError):
        get_official(accepted=False, again=True)
    get_official(accepted=True, again=True)
    assert len(hub.asked) == 2 * count


def test_a_fetch_that_breaks_off_leaves_nothing_that_looks_whole(hub: Hub) -> None:
    hub.lost = "needlesets/needle_set_hard.json"
    with pytest.raises(DataError, match=r"needle_set_hard\.json .*the hub cannot be reached.*nolima-open") as caught:
        get_official(accepted=True)
    assert "\n" not in str(caught.value)
    assert official_status().state == "missing"
    assert not official_folder().exists()


def test_offline_only_the_hubs_cache_is_looked_at(hub: Hub) -> None:
    with pytest.raises(DataError, match="fetching is off"):
        get_official(accepted=True, offline=True)
    assert len(hub.asked) == 1


def test_a_changed_or_lost_file_is_noticed(hub: Hub) -> None:
    folder = get_official(accepted=True)
    (folder / "needle_set.json").write_text("[]", encoding="utf-8")
    assert official_status().state == "held"
    assert official_status(verify=True).state == "damaged"
    (folder / "needle_set.json").unlink()
    assert official_status().state == "damaged"
    get_official(accepted=True)
    assert official_status(verify=True).state == "held"
    assert len(hub.asked) == 22


@pytest.mark.usefixtures("hub")
def test_the_command_line_asks_for_consent_and_lists() -> None:
    def listed() -> dict[str, object]:
        rows = json.loads(CliRunner().invoke(app, ["list", "--json"]).stdout)
        return next(row for row in rows if row["name"] == "nolima-official")

    assert isinstance(CliRunner().invoke(app, ["get", "nolima-official"]).exception, UsageError)
    assert listed()["state"] == "missing"
    got = CliRunner().invoke(app, ["get", "nolima-official", "--accept-licence", "--json"])
    assert json.loads(got.stdout) == {"name": "nolima-official", "path": str(official_folder())}
    assert listed()["state"] == "held"
    assert "non-commercial" in str(listed()["licence"])
    assert CliRunner().invoke(app, ["path", "nolima-official"]).stdout.strip() == str(official_folder())
    assert "nolima-official" in CliRunner().invoke(app, ["list"]).stdout
    assert isinstance(CliRunner().invoke(app, ["get", "essays", "--accept-licence"]).exception, UsageError)

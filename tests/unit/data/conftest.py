"""An empty cache, and a shop to fill it from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from wheel_shop import Shop


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """No test of the shop goes to a registry."""
    if "shop" in request.fixturenames:
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("LEADLINE_CACHE", str(folder))
    return folder


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Shop:
    """An empty shop, with an empty cache."""
    del cache
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return Shop(folder)

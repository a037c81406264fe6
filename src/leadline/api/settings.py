"""The keyword ``set``, checked as the command line's ``--set`` is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from leadline.spec import parse_set


def checked_settings(changes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Parameters by task or family name, for example ``{"niah.num_keys": 8}``.

    Raises:
        UsageError: a name is not of the form task.parameter, or there is no such task or family.
    """
    parse_set([f"{name}={json.dumps(value, default=str)}" for name, value in (changes or {}).items()])
    return dict(changes or {})

"""What a run is asked to do: strict validation where text comes in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from leadline.errors import UsageError
from leadline.suites import suite_data
from leadline.tasks.base import Task
from leadline.tasks.nolima import COARSE_FROM
from leadline.tasks.registry import FAMILIES, NOLIMA_VARIANTS, RULER_TASKS, TASKS, make_task, suggestion
from leadline.values import listed, parse_length, parse_markers, parse_price, parse_threshold, parse_weights

NOLIMA = "nolima"
"""The family of tasks, and the suite for the official files."""

LOCAL = "local"
"""Alias of the model in the box."""

DEFAULT_SUITE = "quick"


class VerdictRule(BaseModel):
    """When a length passes: an absolute score in per cent, a share of the score at the shortest length, or both.

    With `base_times` it is a share of the base score, which is taken from the base lengths (NoLiMa).

    The absolute one may be one of the paper's by name, which then brings a threshold for each category.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: Literal["chat", "base"] | Annotated[float, Field(ge=0, le=100)] | None = None
    relative: float | None = Field(default=0.85, gt=0, le=1)
    base_times: float | None = Field(default=None, gt=0, le=1)
    base_lengths: tuple[int, ...] = (250, 500, 1000)


def _names(value: Any) -> Any:
    if isinstance(value, str) and not listed(value):
        raise ValueError("there is nothing between the commas")
    return listed(value) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class RunSpec(BaseModel):
    """A run, resolved: a suite with everything that was changed on the command line or in a file.

    Lengths are in tokens once validated; `k` says what K means in them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str = DEFAULT_SUITE
    about: str = ""
    source: str = ""
    k: Literal[1000, 1024] = 1024
    model: str = LOCAL
    suite_tasks: Names = ()
    tasks: Names = Field(default=(), min_length=1)
    lengths: tuple[int, ...] = Field(default=(), min_length=1)
    samples: int = Field(ge=1, le=1_000_000)
    seed: int = Field(42, ge=0)
    set: dict[str, Any] = Field(default_factory=dict[str, Any])
    verdict: VerdictRule = VerdictRule()
    weights: dict[int, float] = Field(default_factory=dict[int, float])
    protocol: Literal["published", "sound"] = "published"
    tokenizer: str | None = None
    template: str | None = None
    max_tokens: int | None = Field(None, ge=1)
    base_url: str | None = None
    endpoint: Literal["chat", "completions"] = "chat"
    api_key_env: str | None = None
    reasoning_tokens: int = Field(0, ge=0)
    timeout_s: float | None = Field(None, gt=0)
    label: str | None = None
    trained_length: int | None = Field(None, ge=1)
    order: Literal["prefix", "given"] = "prefix"
    concurrency: int | None = Field(None, ge=1, le=1024)
    limit_tokens: int | None = Field(None, ge=1)
    limit_cost: float | None = Field(None, gt=0, allow_inf_nan=False)
    price: str | None = None
    reasoning_markers: str = "<think>,</think>"
    shard: str | None = None
    stop: Literal["certain", "never"] = "never"
    no_control: bool = False
    claim: Literal["lengths", "effective"] = "lengths"
    confidence: float = Field(0.95, ge=0.5, lt=1)
    margin: float = Field(1.0, ge=0, lt=100)
    exhaust: Literal["repeat", "stop"] = "repeat"
    variant: Names = ()
    sweep: Literal["full", "last-2k"] = "full"
    needles: str | None = None
    haystack: str | None = None
    closed_book: bool = False
    out: Path = Path("runs")
    offline: bool = False
    skip_damaged: bool = False

    @model_validator(mode="before")
    @classmethod
    def _readable_lengths(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("k", 1024) not in (1000, 1024):
            return data
        if data.get("weights"):
            data = {**data, "weights": parse_weights(data["weights"], data.get("k", 1024))}
        if data.get("trained_length") is not None:
            data = {**data, "trained_length": parse_length(data["trained_length"], data.get("k", 1024))}
        if data.get("lengths") is None:
            return data
        # A text without any part is judged as what it is, and not as no length at all.
        parts = _parts(data["lengths"]) or ([data["lengths"]] if isinstance(data["lengths"], str) else [])
        return {**data, "lengths": tuple(sorted({parse_length(part, data.get("k", 1024)) for part in parts}))}

    @model_validator(mode="after")
    def _weights_of_asked_lengths(self) -> RunSpec:
        others = [str(length) for length in self.weights if length not in self.lengths]
        if others:
            raise UsageError(
                f"weights are given for {', '.join(others)} tokens, which is no length of this run: leave it out"
            )
        return self

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"--base-url {url!r} is no address: write for example http://localhost:8000/v1")
        if parts.username or parts.password or parts.query:
            # The address is written into the run's folder; a key is not.
            raise UsageError(
                f"--base-url of {parts.hostname} carries a user, a password or a query: give a key by --api-key-env"
            )
        return url.rstrip("/")

    @field_validator("price")
    @classmethod
    def _two_prices(cls, price: str | None) -> str | None:
        if price is not None:
            parse_price(price)
        return price

    @field_validator("reasoning_markers")
    @classmethod
    def _two_markers(cls, markers: str) -> str:
        parse_markers(markers)
        return markers

    @model_validator(mode="after")
    def _known_shard(self) -> RunSpec:
        self.shard_of()
        if self.stop == "certain" and self.shard is not None:
            raise UsageError(
                f"--shard {self.shard} cannot be joined with --stop certain, which must see all answers: leave out one"
            )
        return self

    @property
    def suite_shortest(self) -> int:
        """The suite's own shortest length, in tokens.

        Raises:
            UsageError: there is no such suite.
        """
        return min(parse_length(part, self.k) for part in _parts(suite_data(self.suite)["lengths"]))

    def shard_of(self) -> tuple[int, int]:
        """Which share of the items this process asks, as (number from 0, shares)."""
        if self.shard is None:
            return 0, 1
        match = re.fullmatch(r"(\d+)/(\d+)", self.shard)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise UsageError(f"shard {self.shard!r} is not i/n with 1 <= i <= n, such as 2/4")
        return int(match[1]) - 1, int(match[2])

    def make_tasks(self) -> list[Task]:
        """The tasks to ask, with their changed parameters."""
        return [make_task(name, self.changes(name)) for name in self.tasks]

    def make_suite_tasks(self) -> list[Task]:
        """All tasks of the suite, whichever of them this run asks."""
        return [make_task(name, self.changes(name)) for name in self.suite_tasks]

    def changes(self, task: str) -> dict[str, Any]:
        """Parameters of one task that ``--set`` and ``--max-tokens`` change, by family name or by task name."""
        family = TASKS[task][0] if task in TASKS else ""
        changes: dict[str, Any] = {}
        if self.protocol == "sound" and family:
            changes.update(FAMILIES[family].sound)
        if family == NOLIMA:
            changes.update({"sweep": self.sweep} if self.sweep != "full" else {})
            changes.update({name: value for name in ("needles", "haystack") if (value := getattr(self, name))})
        if self.max_tokens is not None:
            changes["output_tokens"] = self.max_tokens
        for target in (family, task):
            for name, value in self.set.items():
                owner, _, parameter = name.rpartition(".")
                if owner == target:
                    changes[parameter] = value
        return changes


def parse_set(settings: list[str]) -> dict[str, Any]:
    """``["niah.num_keys=8"]`` as {"niah.num_keys": 8}.

    Raises:
        UsageError: a setting is not of the form name.parameter=value, or names neither a task nor a family.
    """
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting!r} is not of the form task.parameter=value, such as niah.num_keys=8")
        _check_setting(setting, name)
        try:
            values[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UsageError(f"--set {setting!r}: {value!r} is no value: give a number or a word") from error
    return values


def _check_setting(setting: str, name: str) -> None:
    owner, _, parameter = name.rpartition(".")
    if not owner or not parameter:
        raise UsageError(f"--set {setting!r} is not of the form task.parameter=value, such as niah.num_keys=8")
    if owner not in TASKS and owner not in FAMILIES:
        known = [*FAMILIES, *TASKS]
        raise UsageError(f"--set {setting!r}: there is no task or family {owner!r}: {suggestion(owner, known)}")


def resolve(suite: str | None, options: dict[str, Any], file: Path | None = None) -> RunSpec:
    """A run's specification: the suite, then the file's keys, then the options that are not None.

    Raises:
        UsageError: an unknown suite, key or task, or a value out of range.
    """
    written = _read_spec(file) if file is not None else {}
    written_set = _written_settings(written.pop("set", None))
    given = {name: value for name, value in options.items() if value is not None}
    thresholds = [keys.pop("threshold") for keys in (given, written) if "threshold" in keys]
    suite = str(suite or written.get("suite") or DEFAULT_SUITE)
    written.pop("suite", None)
    base = suite_data(suite)
    tasks = list(TASKS_OF_ALL) if base["tasks"] == "all" else base["tasks"]
    data: dict[str, Any] = {
        **{key: value for key, value in base.items() if key not in ("name", "tasks", "asked")},
        "suite": suite,
        "suite_tasks": tasks,
        "tasks": base.get("asked", tasks),
        **written,
        **{name: value for name, value in given.items() if name != "set"},
        "set": {**written_set, **given.get("set", {})},
    }
    _ask_variants(data, base)
    if thresholds:
        data["verdict"] = {**(data.get("verdict") or {}), "threshold": parse_threshold(thresholds[0])}
    try:
        spec = RunSpec.model_validate(data)
    except ValidationError as error:
        problem = error.errors()[0]
        name = "--" + ".".join(str(part) for part in problem["loc"]).replace("_", "-")
        if problem["type"] == "extra_forbidden":
            raise UsageError(f"a spec has no key {problem['loc'][0]!r}: {_known_keys(problem)}") from error
        raise UsageError(f"{name} {problem['input']!r} is not possible: {problem['msg']}") from error
    spec.make_tasks()
    spec.make_suite_tasks()
    return spec


def _parts(value: Any) -> list[Any]:
    """A value that may be a list, or a text with commas, before it is validated."""
    return listed(value) if isinstance(value, str) else list(value) if isinstance(value, list | tuple) else [value]


def home_suite(task: str) -> str:
    """The suite whose K and sizing a task is meant for."""
    if task in TASKS and TASKS[task][0] == NOLIMA:
        return "nolima-open" if task.startswith("nolima_open") else NOLIMA
    return DEFAULT_SUITE


def _ask_variants(data: dict[str, Any], base: dict[str, Any]) -> None:
    """Let a NoLiMa suite ask the variants that ``--variant`` names, on the depths that its lengths allow.

    Raises:
        UsageError: another suite, an unknown variant, or needles that are not the suite's.
    """
    families = {TASKS[name][0] for name in data["suite_tasks"] if name in TASKS}
    options = [name for name in ("variant", "needles", "haystack", "sweep", "closed_book") if data.get(name)]
    if families != {NOLIMA}:
        if options:
            raise UsageError(
                f"--{options[0].replace('_', '-')} is for NoLiMa's suites: leave it out, or run nolima-open"
            )
        for name in _parts(data["tasks"]):
            if name in TASKS and TASKS[name][0] == NOLIMA:
                raise UsageError(f"task {name} counts lengths in its haystack: run it in the suite {home_suite(name)}")
        return
    root = data["suite_tasks"][0]
    if data.get("needles") and root != NOLIMA:
        raise UsageError(f"--needles {data['needles']}: {data['suite']} has needles of its own: run the suite nolima")
    variants = _parts(data.get("variant") or ())
    suffix_of = {variant: suffix for suffix, variant in NOLIMA_VARIANTS.items()}
    for variant in variants:
        if variant not in suffix_of:
            raise UsageError(f"--variant {variant!r}: {suggestion(variant, list(suffix_of))}")
    if variants:
        data["tasks"] = [root + suffix_of[variant] for variant in variants]
        data["suite_tasks"] = list(dict.fromkeys([*data["suite_tasks"], *data["tasks"]]))
    greatest = max((parse_length(part, data.get("k", 1000)) for part in _parts(data["lengths"])), default=0)
    if greatest >= COARSE_FROM and int(data["samples"]) < base["samples"]:
        # A sample at every length has the depths that the grids of 26 and of 11 share.
        data["set"] = {f"{NOLIMA}.depths": "6", **data["set"]}


TASKS_OF_ALL: tuple[str, ...] = tuple(name for name in RULER_TASKS if name in TASKS)
"""What a suite means by `tasks: all`: every task there is, each in its standard configuration."""


def _known_keys(problem: Any) -> str:
    return suggestion(str(problem["loc"][0]), list(RunSpec.model_fields))


def _written_settings(settings: Any) -> dict[str, Any]:
    """The `set` of a file: what ``--set`` takes, as a mapping."""
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        raise UsageError(f"set: {settings!r} in a spec is no mapping: write for example  niah.num_keys: 8  below set:")
    for name, value in settings.items():
        _check_setting(f"{name}={value}", str(name))
    return settings


def _read_spec(file: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--spec {file} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"--spec {file} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise UsageError(f"--spec {file} holds no keys: write for example  samples: 50")
    return data

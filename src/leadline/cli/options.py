"""Options that several verbs take, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from leadline.errors import UsageError
from leadline.spec import RunSpec, parse_set, resolve

Suite = Annotated[str | None, typer.Argument(help="Suite to ask; quick where none is named.", show_default=False)]
Model = Annotated[
    str | None,
    typer.Option(
        help="Who answers: local (the model in the box), openai/NAME (any OpenAI-compatible server), ollama/NAME, "
        "llamacpp/FILE.gguf, openvino/PATH, hf/NAME-or-PATH, inspect/PROVIDER/NAME, reader/NAME.",
        show_default="local",
    ),
]
Tasks = Annotated[str | None, typer.Option(help="Only these tasks, separated by commas.")]
Lengths = Annotated[str | None, typer.Option(help="Lengths in tokens, for example 4k,8k,128k.")]
Samples = Annotated[int | None, typer.Option(help="Samples of each task and length.")]
Seed = Annotated[int | None, typer.Option(help="Seed of every random draw.", show_default="42")]
TokenizerOption = Annotated[
    str | None,
    typer.Option("--tokenizer", help="tiktoken/cl100k_base, tiktoken/o200k_base, hf/NAME-or-PATH, gguf/FILE."),
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="A task's parameter, for example niah.num_keys=8; repeatable.")
]
Protocol = Annotated[
    str | None,
    typer.Option(
        help="published: as the published figures; sound: questions, distractors and essay starts at random, "
        "worked examples as turns.",
        show_default="published",
    ),
]
Exhaust = Annotated[
    str | None,
    typer.Option(
        help="Where a text runs out: repeat it (and say so), or stop: leave the cell out.", show_default="repeat"
    ),
]
Variant = Annotated[
    str | None,
    typer.Option(
        help="How NoLiMa asks its pairs: default, direct, choices, cot, distractor, hard; several by commas.",
        show_default="default",
    ),
]
Sweep = Annotated[
    str | None,
    typer.Option(help="NoLiMa's depths over all of the haystack (full) or its end (last-2k).", show_default="full"),
]
Needles = Annotated[str | None, typer.Option(help="NoLiMa: a needle file in the official format.")]
HaystackFolder = Annotated[
    str | None, typer.Option("--haystack", help="NoLiMa: a folder of text files, each of them a book.")
]
Template = Annotated[
    str | None, typer.Option(help="Chat template: a name of the paper's table 6 (base, llama3, ...) or a Jinja file.")
]
MaxTokens = Annotated[int | None, typer.Option(help="Tokens an answer may take, instead of each task's own.")]
BaseUrl = Annotated[
    str | None,
    typer.Option(help="Where an openai/ or ollama/ model's server is, for example http://localhost:8000/v1."),
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        help="chat: the server renders its chat template; completions: it is sent rendered text.", show_default="chat"
    ),
]
ApiKeyEnv = Annotated[
    str | None, typer.Option(help="Environment variable that holds the key.", show_default="the provider's usual one")
]
ReasoningTokens = Annotated[
    int | None, typer.Option(help="Tokens for reasoning, on top of those of the answer.", show_default="0")
]
TimeoutS = Annotated[
    float | None, typer.Option("--timeout-s", help="Seconds that one request may take.", show_default="1800")
]
Label = Annotated[str | None, typer.Option(help="Keeps two set-ups of one model apart.")]
TrainedLength = Annotated[
    str | None,
    typer.Option(
        help="Length that the model was trained for, for example 32k: reports compare with it; it changes no answer."
    ),
]
Order = Annotated[str | None, typer.Option(help="prefix: neighbours share the longest beginning; given: as listed.")]
Concurrency = Annotated[int | None, typer.Option(help="Requests in flight, at most what the model can take.")]
LimitTokens = Annotated[int | None, typer.Option(help="Stop before the round that would pass this many prompt tokens.")]
LimitCost = Annotated[
    float | None,
    typer.Option(help="Stop before the round that would pass so many US dollars, all invocations counted."),
]
Price = Annotated[
    str | None,
    typer.Option(help="IN,OUT: US dollars per million prompt and output tokens.", show_default="the catalogue's"),
]
ReasoningMarkers = Annotated[
    str | None,
    typer.Option(help="OPEN,CLOSE: what stands around reasoning in an answer.", show_default="<think>,</think>"),
]
Shard = Annotated[str | None, typer.Option(help="Ask only share i of n of the items: i/n.")]
Stop = Annotated[
    str | None,
    typer.Option(
        help="certain: ask each length in a random order and stop where its verdict is certain; never: ask everything.",
        show_default="never",
    ),
]
NoControl = Annotated[
    bool,
    typer.Option(
        "--no-control",
        help="Ask nothing beside the lengths: neither a few items at the suite's shortest length, which tell whether "
        "the model is weak there already, nor questions without their documents.",
    ),
]
Claim = Annotated[
    str | None,
    typer.Option(
        help="What --stop certain is certain of: lengths, the verdict of each by itself; effective, the effective "
        "length, for which the lengths are asked from the greatest down and those below one that passes not at all.",
        show_default="lengths",
    ),
]
Confidence = Annotated[float | None, typer.Option(help="Of what --stop certain claims.", show_default="0.95")]
Margin = Annotated[
    float | None,
    typer.Option(
        help="Points around the threshold within which a length may be left undecided; 0: none.", show_default="1.0"
    ),
]
ClosedBook = Annotated[
    bool | None,
    typer.Option("--closed-book", help="Ask NoLiMa's questions without haystack and needle too: what guessing scores."),
]
Out = Annotated[Path | None, typer.Option(help="Parent of the runs' folders.", show_default="runs")]
Offline = Annotated[bool, typer.Option("--offline", help="Fetch nothing.")]
SkipDamaged = Annotated[bool, typer.Option("--skip-damaged", help="Go on without damaged record lines.")]
SpecFile = Annotated[Path | None, typer.Option("--spec", help="YAML file with the same keys as these options.")]
Threshold = Annotated[
    str | None,
    typer.Option(
        help="Score that a length must reach: chat or base (the paper's, with one for each category), or per cent.",
        show_default="the suite's",
    ),
]
Weights = Annotated[
    str | None, typer.Option(help="How much each length counts in an average of your own: 4k=5,8k=3,128k=0.5.")
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output and nothing else on standard output.")]
RunFolder = Annotated[Path, typer.Argument(help="A run's folder.", show_default=False)]


def resolved(suite: str | None, spec_file: Path | None, set_options: list[str] | None, **options: Any) -> RunSpec:
    """The specification that a verb's options make.

    Switches that are off are left to the file.

    Raises:
        UsageError: an option that would change nothing, or one that `resolve` refuses.
    """
    given = {name: (None if value is False else value) for name, value in options.items()}
    given["set"] = parse_set(set_options or [])
    spec = resolve(suite, given, spec_file)
    for name in ("claim", "confidence", "margin"):
        if given.get(name) is not None and spec.stop != "certain":
            raise UsageError(f"--{name} {given[name]} is for --stop certain: give that too, or leave it out")
    return spec

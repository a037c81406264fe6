"""Which flag or setting of a server mends what was found, by the server's name in its dialect or engine.

Sources: docs.vllm.ai (engine arguments, batch invariance), docs.sglang.io (server arguments, deterministic inference),
github.com/ggml-org/llama.cpp tools/server/README.md, docs.ollama.com/context-length, lmstudio.ai/docs/cli,
huggingface.co/docs/text-generation-inference/reference/launcher.
"""

from __future__ import annotations

from collections.abc import Mapping

_LENGTH: Mapping[str, str] = {
    "vllm": "start vLLM with --max-model-len N",
    "sglang": "start SGLang with --context-length N",
    "llamacpp": "start llama-server with -c N (--ctx-size; it is shared out among the -np slots)",
    "lmstudio": "load the model with a longer context: lms load NAME --context-length N",
    "tgi": "start TGI with --max-total-tokens N and --max-input-tokens below it",
    "ollama": "use --model ollama/NAME, which sends num_ctx, or start Ollama with OLLAMA_CONTEXT_LENGTH=N",
    "openrouter": "choose another provider or model: each has its own limit",
    "openai": "choose a model with a longer context",
}
_LENGTH_IN_PROCESS: Mapping[str, str] = {
    "llamacpp": "name it as llamacpp/FILE.gguf?context_tokens=N",
}
_CACHE: Mapping[str, str] = {
    "vllm": "start vLLM with --enable-prefix-caching, and with --enable-prompt-tokens-details to see it told",
    "sglang": "start SGLang without --disable-radix-cache, and with --enable-cache-report to see it told",
    "llamacpp": "leave cache_prompt on, and give each lane a slot: -np as many as --concurrency",
    "tgi": "start TGI with PREFIX_CACHING=1",
}
_CACHE_IN_PROCESS: Mapping[str, str] = {
    "openvino": "--model llamacpp/local, whose engine keeps prefixes",
}
_DETERMINISM: Mapping[str, str] = {
    "vllm": "start vLLM with VLLM_BATCH_INVARIANT=1",
    "sglang": "start SGLang with --enable-deterministic-inference",
    "llamacpp": "start llama-server with -np 1, or run with --concurrency 1",
}


def length_remedy(server: str, kind: str) -> str:
    """How a longer prompt is let in.

    Args:
        server: the server's dialect or the engine's name.
        kind: the word before the slash in the model's name.
    """
    own = _LENGTH if kind in ("openai", "ollama") else _LENGTH_IN_PROCESS
    return own.get(server, "raise its context length") + ", or ask for shorter --lengths"


def cache_remedy(server: str, kind: str) -> str | None:
    """How prefixes come to be kept; None where nothing is known."""
    return (_CACHE if kind in ("openai", "ollama") else _CACHE_IN_PROCESS).get(server)


def determinism_remedy(server: str) -> str:
    """How the same request comes to have the same answer."""
    return _DETERMINISM.get(server, "run with --concurrency 1, or ask for more --samples")

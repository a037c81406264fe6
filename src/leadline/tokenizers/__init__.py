"""Counting tokens as a model does: tiktoken ranks, Hugging Face tokenizer files, GGUF vocabularies."""

"""leadline measures how much of its context window a language model can really use."""

__version__ = "0.1.0"

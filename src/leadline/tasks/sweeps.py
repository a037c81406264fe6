"""Configurations beside the thirteen: those of the paper's figures 2, 3 and 5, and of its limitations section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_UUID_PAIR = {"type_key": "uuid", "type_value": "uuid"}
_EIGHT_NUMBERS, _EIGHT_UUIDS = {"output_tokens": 192}, {"output_tokens": 512}

SWEEPS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    # Figure 2, left: what keys and values are. Word and number is niah_single_2, word and UUID niah_single_3.
    "niah_single_number_number": ("niah", {"type_key": "number"}),
    "niah_single_number_uuid": ("niah", {"type_key": "number", "type_value": "uuid"}),
    "niah_single_uuid_number": ("niah", {"type_key": "uuid"}),
    "niah_single_uuid_uuid": ("niah", _UUID_PAIR),
    # Figure 2, middle left: distractors. One key is niah_single_2, four are niah_multikey_1, a haystack full of them
    # niah_multikey_2 and, with UUIDs, niah_multikey_3.
    "niah_multikey_8": ("niah", {"num_keys": 8}),
    "niah_multikey_4_uuid": ("niah", {"num_keys": 4, **_UUID_PAIR}),
    "niah_multikey_8_uuid": ("niah", {"num_keys": 8, **_UUID_PAIR}),
    # Figure 2, middle right and right: values and queries. One is niah_single_2, four niah_multivalue and
    # niah_multiquery.
    "niah_multivalue_2": ("niah", {"num_values": 2}),
    "niah_multivalue_8": ("niah", {"num_values": 8, **_EIGHT_NUMBERS}),
    "niah_multivalue_8_uuid": ("niah", {"num_values": 8, **_UUID_PAIR, **_EIGHT_UUIDS}),
    "niah_multiquery_2": ("niah", {"num_queries": 2}),
    "niah_multiquery_8": ("niah", {"num_queries": 8, **_EIGHT_NUMBERS}),
    # Figure 3: hops and chains (four hops and one chain are vt). A name of five capitals takes up to five tokens.
    "vt_hops_2": ("vt", {"num_hops": 2}),
    "vt_hops_6": ("vt", {"num_hops": 6, "output_tokens": 45}),
    "vt_hops_8": ("vt", {"num_hops": 8, "output_tokens": 60}),
    "vt_chains_2": ("vt", {"num_chains": 2}),
    "vt_chains_3": ("vt", {"num_chains": 3}),
    "vt_chains_4": ("vt", {"num_chains": 4}),
    "vt_chains_5": ("vt", {"num_chains": 5}),
    # Figure 3: the exponent of the words' frequencies (2.0 is fwe), and questions without their documents.
    "fwe_alpha_1.5": ("fwe", {"alpha": 1.5}),
    "fwe_alpha_2.5": ("fwe", {"alpha": 2.5}),
    "fwe_alpha_3.0": ("fwe", {"alpha": 3.0}),
    "fwe_alpha_3.5": ("fwe", {"alpha": 3.5}),
    "qa_1_no_context": ("qa", {"context": "none"}),
    "qa_2_no_context": ("qa", {"context": "none", "dataset": "hotpotqa"}),
    # The limitations section: the length of a variable's name, the size of the vocabulary.
    "vt_names_4": ("vt", {"name_length": 4}),
    "vt_names_8": ("vt", {"name_length": 8, "output_tokens": 48}),
    "vt_names_12": ("vt", {"name_length": 12, "output_tokens": 72}),
    "cwe_words_5": ("cwe", {"num_cw": 5}),
    "cwe_vocabulary_200": ("cwe", {"vocabulary_size": 200}),
    "cwe_vocabulary_1000": ("cwe", {"vocabulary_size": 1000}),
    "fwe_vocabulary_20": ("fwe", {"vocabulary_size": 20}),
    "fwe_vocabulary_200": ("fwe", {"vocabulary_size": 200}),
    "fwe_letters_4": ("fwe", {"word_length": 4}),
    "fwe_letters_10": ("fwe", {"word_length": 10, "output_tokens": 60}),
}
"""Named configurations: (family, parameters that differ from the family's defaults)."""

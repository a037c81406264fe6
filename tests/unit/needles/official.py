"""A file in the published format, written for the tests: every question type and every optional field."""

from __future__ import annotations

from typing import Any

NAMES = ["Quentin", "Rosalind", "Tobias"]


def official_entries() -> list[dict[str, Any]]:
    return [
        {
            "id": "0901",
            "reasoning_type": "world_knowledge",
            "system_prompt": "Be {brief}.",
            "task_template": "Text {x}: {haystack}\nAsk: {question} {}",
            "needle": "Last week, {CHAR} rowed along the {1} {at dawn}.",
            "questions": {
                "onehop": "Which character knows {2}?",
                "twohop": "Which character knows {3}?",
                "twohop2": "Which character knows {4}?",
                "direct": "Which character rowed along the {1}?",
            },
            "character_set": NAMES,
            "tests": {
                "T01": {"input_args": ["Vltava", "Prague", "Bohemia", "{5} spires"]},
                "T02": {"input_args": ["Spree", "Berlin", "Germany", "Brandenburg"], "gold_answers": None},
            },
            "distractors": {"onehop": "A map of {2} lay open.", "twohop": "A map of {3} lay open."},
            "comment": "a field that the format does not have",
        },
        {
            "id": "0901Inv",
            "reasoning_type": "world_knowledge",
            "system_prompt": "",
            "needle": "Last week, the {1} was where {CHAR} rowed.",
            "questions": {"onehop": "Which character knows {2}, {CHAR} or another?"},
            "character_set": NAMES,
            "tests": {"T01": {"input_args": ["Vltava", "Prague", "Bohemia"]}},
        },
        {
            "id": "0902",
            "reasoning_type": "commonsense_knowledge",
            "system_prompt": "Be brief.",
            "needle": "There was a {1} in the yard.",
            "questions": {"onehop": "Which animal lays {2}?"},
            "character_set": [],
            "tests": {
                "T01": {"input_args": ["hen", "eggs"], "gold_answers": ["hen", "chicken"]},
                "T02": {"input_args": ["hen", "eggs"], "gold_answers": ["hen", "chicken"]},
            },
        },
    ]

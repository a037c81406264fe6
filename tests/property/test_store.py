"""A run's records after a crash at any byte."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import RunFolderError
from leadline.items import Fit, ItemKey, TrialKey
from leadline.records import OUTCOMES, Record
from leadline.requests import Response
from leadline.run.store import RecordWriter, read_records

texts = st.text(st.characters(), max_size=30)
fits = st.builds(Fit, st.integers(0, 10**6), st.integers(0, 10**7), st.none() | st.tuples(st.integers(), st.integers()))
keys = st.builds(
    TrialKey,
    st.builds(ItemKey, texts, st.integers(1, 9), st.just('{"a":1}'), st.integers(0), st.integers(0)),
    st.integers(1, 2**22),
    texts,
)
records = st.builds(
    Record,
    key=keys,
    fit=st.none() | fits,
    item_hash=st.none() | texts,
    prompt_hash=st.none() | texts,
    prompt_tokens=st.none() | st.integers(0),
    factors=st.dictionaries(
        texts, st.none() | texts | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
    ),
    answers=st.lists(st.lists(texts, max_size=2).map(tuple), max_size=3).map(tuple),
    facts=st.dictionaries(texts, st.lists(texts, max_size=2), max_size=2),
    response=st.none() | st.builds(Response, st.none() | texts, reasoning=st.none() | texts),
    outcome=st.sampled_from(OUTCOMES),
    failure=st.none() | texts,
    notes=st.lists(texts, max_size=2).map(tuple),
)


@given(records)
def test_a_record_is_one_line_and_comes_back(record: Record) -> None:
    line = record.to_json()
    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert Record.from_json(line) == record


@settings(max_examples=3, deadline=None)
@given(st.lists(records, min_size=1, max_size=2))
def test_a_file_cut_at_any_byte_of_its_last_record_gives_the_others(kept: list[Record]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        writer = RecordWriter(folder, (0, 1))

        async def append() -> None:
            for record in kept:
                await writer.append(record)

        asyncio.run(append())
        writer.close()
        content = writer.path.read_bytes()
        last = content.rfind(b"\n", 0, -1) + 1
        for end in range(last, len(content)):
            writer.path.write_bytes(content[:end])
            assert list(read_records(folder)) == kept[:-1]
        writer.path.write_bytes(content)
        assert list(read_records(folder)) == kept


@given(records, st.data())
@settings(max_examples=25, deadline=None)
def test_a_line_cut_in_the_middle_of_a_file_is_never_taken_for_a_record(record: Record, data: st.DataObject) -> None:
    line = record.to_json().encode()
    end = data.draw(st.integers(0, len(line) - 1))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "records-1of1-a-b.jsonl"
        path.write_bytes(line[:end] + b"\n" + line + b"\n")
        try:
            list(read_records(path.parent))
        except RunFolderError as error:
            assert f"{path}, line 1 is damaged" in str(error)
        else:
            raise AssertionError("a damaged line was read")
        assert list(read_records(path.parent, skip_damaged=True)) == [record]

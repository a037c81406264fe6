"""What the engine adds to a bare loop of the same HTTP client with the same bodies, against an instant server.

    python benchmarks/engine.py [--lengths 4k,128k] [--tasks niah_single_2,vt] [--answers wrong]
        [--requests 400,160] [--concurrency 32] [--repeat 3]
    python benchmarks/engine.py --schedule

A server in a process of its own answers every completion at once. "bare" posts bodies that were made before, by the
openai package's client, and keeps nothing. "engine" is `leadline run` from the schedule on: it makes every prompt,
sends it by the same client, judges the answer and waits until its record is on the disk. Each figure is the best of
some repetitions that take turns; where other work runs on the machine, the ratio of processor times is the steadier.
"MB" is the greatest resident memory, after a quarter of the trials and at the end, of a process that does nothing but
ask the same trials through the engine.

With fewer trials in a round than requests in flight, connections lie idle, and the client looks at each of them before
it sends anything: a task has 25 trials of a length in a round, so measure several together, as a run asks them.

`--schedule` times the estimate and the making of the first round of a run of 39,000 trials.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from leadline.data.sources import Sources
from leadline.models.base import Backend
from leadline.models.registry import ModelOptions, open_model
from leadline.prompt import request_for
from leadline.records import Record
from leadline.requests import Request, Response
from leadline.run.closing import Cells
from leadline.run.engine import Engine
from leadline.run.framing import open_sampler
from leadline.run.patience import Traffic
from leadline.run.schedule import Schedule
from leadline.run.store import RecordWriter
from leadline.sampler import Sampler
from leadline.spec import RunSpec, resolve

TOKENIZER = "tiktoken/cl100k_base"
ANSWERS = {
    "wrong": " 1234567",
    "prose": " I could not find that number in the text above; it speaks of cities and of what to make of them.",
}
"""What the server says to everything: a value that is nowhere, or a sentence without one."""

BODY = b'{"id":"1","choices":[{"index":0,"text":"%b","finish_reason":"stop"}]}'

NIAH = (
    "niah_single_1,niah_single_2,niah_single_3,niah_multikey_1,niah_multikey_2,niah_multikey_3,niah_multivalue,"
    "niah_multiquery"
)
MODELS = b'{"object":"list","data":[{"id":"m","object":"model"}]}'


class InstantServer(asyncio.Protocol):
    """Reads a request and answers it with the same bytes as any other."""

    answer: bytes

    def __init__(self) -> None:
        self._seen = 0
        self._head = bytearray()
        self._needed: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Count a body's bytes; nothing of it is kept."""
        if self._needed is None:
            self._head += data
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                return
            fields = self._head[:end].lower().split(b"\r\n")
            lengths = [int(field.partition(b":")[2]) for field in fields if field.startswith(b"content-length:")]
            self._needed, self._seen = sum(lengths), len(self._head) - end - 4
        else:
            self._seen += len(data)
        if self._seen >= self._needed:
            post = self._head.startswith(b"POST")
            known = post or self._head.startswith(b"GET /v1/models ")
            self._answer(b"200 OK" if known else b"404 Not Found", self.answer if post else MODELS if known else b"{}")
            self._head.clear()
            self._needed = None

    def _answer(self, status: bytes, body: bytes) -> None:
        head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
        if isinstance(self._transport, asyncio.WriteTransport):
            self._transport.write(head + body)


class Right:
    """A backend whose answers are made right on their way back, at the server's pace."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        """Everything but the text is the backend's own."""
        return getattr(self._backend, name)

    async def answer(self, request: Request) -> Response:
        """What the sample wants to hear."""
        response = await self._backend.answer(request)
        assert request.sample is not None
        return replace(response, text=" " + ", ".join(forms[0] for forms in request.sample.plan.answers))


def serve(port_to: Connection, answer: str) -> None:
    """Serve until the process is ended."""
    InstantServer.answer = BODY % ANSWERS.get(answer, ANSWERS["wrong"]).encode()

    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(InstantServer, "127.0.0.1", 0)
        port_to.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


def open_server_model(port: int, concurrency: int) -> Backend:
    """The backend that asks the server."""
    options = ModelOptions(
        tokenizer=TOKENIZER,
        base_url=f"http://127.0.0.1:{port}/v1",
        endpoint="completions",
        concurrency=concurrency,
    )
    return open_model("openai/m", options)


def sampler_of(spec: RunSpec, port: int) -> Sampler:
    """Makes the samples: the tokenizer is read here."""
    return open_sampler(spec, open_server_model(port, 1), Sources())


def schedule_of(spec: RunSpec, sampler: Sampler) -> Schedule:
    """Everything that is asked."""
    return Schedule(sampler, spec.make_tasks(), spec.lengths, spec.samples, (0, 1), True, None, frozenset())


@dataclass(frozen=True, slots=True)
class Taken:
    """What asking so many requests took: seconds by the clock, and of this process's processor time."""

    requests: int
    wall_s: float
    processor_s: float
    quarter_mb: float = 0.0


def peak_mb() -> float:
    """The greatest resident memory of this process so far; Linux counts into `ru_maxrss` what started the process."""
    status = Path("/proc/self/status")
    if status.is_file():
        (line,) = (line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)


async def ask_by_engine(spec: RunSpec, sampler: Sampler, port: int, concurrency: int, *, right: bool) -> Taken:
    """The engine, from the schedule to the last record on disk."""
    backend = open_server_model(port, concurrency)
    if right:
        backend = cast("Backend", Right(backend))
    backend.facts()  # it reads its tokenizer, as a run does once
    quarter = spec.samples * len(spec.tasks) * len(spec.lengths) // 4
    asked, quarter_mb = 0, 0.0

    def count(_: Record) -> None:
        nonlocal asked, quarter_mb
        asked += 1
        if asked == quarter:
            quarter_mb = peak_mb()

    with tempfile.TemporaryDirectory() as folder:
        writer = RecordWriter(Path(folder), (0, 1))
        try:
            cells = Cells(spec.make_tasks(), spec.lengths, set())
            engine = Engine(backend, sampler, writer, Traffic(concurrency), concurrency, cells, count)
            wall, processor = time.perf_counter(), time.process_time()
            for made in schedule_of(spec, sampler).rounds():
                await engine.run(made)
            took = time.perf_counter() - wall, time.process_time() - processor
            return Taken(asked, *took, quarter_mb)
        finally:
            writer.close()
            await backend.aclose()


async def ask_bare(bodies: Sequence[dict[str, object]], port: int, concurrency: int) -> Taken:
    """The client alone."""
    import httpx2
    import openai

    client = openai.AsyncOpenAI(
        api_key="none",
        base_url=f"http://127.0.0.1:{port}/v1",
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(
            limits=httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        ),
    )
    left = iter(bodies)

    async def lane() -> None:
        for body in left:
            answer: httpx2.Response = await client.post("/completions", cast_to=httpx2.Response, body=body)
            answer.json()

    wall, processor = time.perf_counter(), time.process_time()
    await asyncio.gather(*(lane() for _ in range(concurrency)))
    taken = Taken(len(bodies), time.perf_counter() - wall, time.process_time() - processor)
    await client.close()
    return taken


def bodies_of(spec: RunSpec, sampler: Sampler) -> list[dict[str, object]]:
    """What the engine sends."""
    bodies: list[dict[str, object]] = []
    for made in schedule_of(spec, sampler).rounds():
        for trial in made.trials:
            plan = sampler.plan(trial.task, trial.key.item.index)
            request = request_for(sampler.sample(trial.task, plan, trial.fit, trial.key.length), sampler.frame)
            bodies.append({"model": "m", "prompt": request.text, "max_tokens": request.max_tokens, "temperature": 0})
    return bodies


def compare(spec: RunSpec, port: int, concurrency: int, repeat: int, *, right: bool) -> tuple[list[Taken], list[Taken]]:
    """What the bare loop and the engine take, in turns; a turn before has read and counted what all items share."""
    sampler = sampler_of(spec, port)
    bodies = bodies_of(spec, sampler)
    bare: list[Taken] = []
    engine: list[Taken] = []
    for _ in range(repeat + 1):
        bare.append(asyncio.run(ask_bare(bodies, port, concurrency)))
        engine.append(asyncio.run(ask_by_engine(spec, sampler, port, concurrency, right=right)))
    return bare[1:], engine[1:]


def row(length: str, bare: Sequence[Taken], engine: Sequence[Taken]) -> str:
    """The best of all turns."""
    walls = [min(taken.wall_s for taken in way) for way in (bare, engine)]
    processors = [min(taken.processor_s for taken in way) for way in (bare, engine)]
    count = engine[0].requests
    return (
        f"{length:>8}{count:>10}{count / walls[0]:>8.0f}{count / walls[1]:>8.0f}{walls[0] / walls[1]:>8.0%}"
        f"{1000 * processors[0] / count:>10.2f}{1000 * processors[1] / count:>10.2f}"
        f"{processors[0] / processors[1]:>8.0%}"
    )


def time_schedule() -> None:
    """The suite ruler with 500 samples of 13 tasks at six lengths, on a model that nothing is asked of."""
    spec = resolve("ruler", {"samples": 500})
    backend = open_model("reader/oracle", ModelOptions(tokenizer=TOKENIZER))
    sampler = open_sampler(spec, backend, Sources())
    schedule = schedule_of(spec, sampler)
    for what in ("with everything to count for the first time", "again"):
        started = time.perf_counter()
        trials, tokens = schedule.estimate()
        estimated = time.perf_counter()
        made = next(schedule.rounds())
        ended = time.perf_counter()
        print(
            f"{trials:,} trials, {tokens:,} prompt tokens: estimate {estimated - started:.2f} s; first round of "
            f"{len(made.trials):,} trials {ended - estimated:.1f} s ({what}); at most {peak_mb():,.0f} MB resident"
        )


def spec_of(tasks: str, length: str, requests: int) -> RunSpec:
    """So many requests of one length, dealt out to the tasks."""
    if tasks == "all":
        tasks = ",".join(resolve("ruler", {}).tasks)
    samples = max(1, requests // len(tasks.split(",")))
    return resolve("ruler", {"tasks": tasks, "lengths": length, "samples": samples})


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", default="4k,128k")
    parser.add_argument("--tasks", default=NIAH)
    parser.add_argument("--answers", choices=["right", *ANSWERS], default="wrong")
    parser.add_argument("--requests", default="400,160", help="for each length")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--schedule", action="store_true")
    parser.add_argument("--memory-of", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.schedule:
        time_schedule()
        return
    right = given.answers == "right"
    counts = [int(part) for part in given.requests.split(",")]
    if given.memory_of is not None:
        spec = spec_of(given.tasks, given.lengths, counts[0])
        sampler = sampler_of(spec, given.memory_of)
        taken = asyncio.run(ask_by_engine(spec, sampler, given.memory_of, given.concurrency, right=right))
        print(f"{taken.quarter_mb:,.0f}, {peak_mb():,.0f}")
        return
    receive, send = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(send, given.answers), daemon=True)
    server.start()
    port = receive.recv()
    print(f"{given.tasks}; {given.answers} answers; {given.concurrency} in flight; best of {given.repeat}")
    print(f"{'':18}{'requests per second':>24}{'processor ms a request':>28}")
    print(
        f"{'length':>8}{'requests':>10}"
        + f"{'bare':>8}{'engine':>8}{'ratio':>8}{'bare':>10}{'engine':>10}{'ratio':>8}  MB"
    )
    for length, requests in zip(given.lengths.split(","), counts, strict=True):
        bare, engine = compare(
            spec_of(given.tasks, length, requests), port, given.concurrency, given.repeat, right=right
        )
        command = [sys.executable, __file__, "--memory-of", str(port), "--lengths", length, "--tasks", given.tasks]
        command += ["--requests", str(requests), "--concurrency", str(given.concurrency), "--answers", given.answers]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(f"{row(length, bare, engine)}  {told.strip()}", flush=True)
    server.terminate()


if __name__ == "__main__":
    main()

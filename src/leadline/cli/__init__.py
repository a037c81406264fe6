"""The command line: one command, plain verbs, each in a module of its own that is imported when it is used."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from leadline import __version__
from leadline.errors import LeadlineError, UsageError
from leadline.visible import visible

VERBS = {
    "run": "measure: ask a suite of a model, resume what is there, print the table, write the report",
    "plan": "what a run would take: trials, tokens, what a prefix cache can save; asks no model",
    "doctor": "what a model's endpoint is, what it truly accepts, and what will go wrong",
    "tasks": "list suites and tasks, or show one with its parameters, defaults and sources",
    "sample": "show one sample: prompt, answers, needles marked, token counts",
    "score": "recompute a run's scores from its records",
    "report": "write a run's HTML page from its records",
    "calibrate": "the tool against readers of known truth: found beside true, and a certificate",
    "leaderboard": "the papers' tables, derived figures recomputed; --with RUN puts a run among them",
    "import": "another tool's files as a run: leadline import ruler DIR",
    "export": "a run in another tool's format, or as a table",
    "haystack": "haystacks of one's own: leadline haystack build DIR --out DIR",
    "needles": "needle sets: shared words, leaks, duplicates, every pair as a table",
    "overlap": "how many of a question's words stand in the text that answers it, beside the published figures",
    "data": "the data sets and the model in the box: what they are, where from, where to",
}

MODULES = {"import": "importing"}
"""Verbs whose module has another name, because theirs is a word of the language."""

EXAMPLE = "leadline run quick --model local"
MISTAKE = 2
INTERRUPTED = 130
OUTPUT_CLOSED = 141


def main() -> None:
    """Run the command line; a user's mistake is one line and exit code 2."""
    try:
        code = _dispatch(sys.argv[1:])
        sys.stdout.flush()
    except LeadlineError as error:
        print(f"leadline: {visible(str(error))}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:  # while a verb was still being loaded
        print("leadline: interrupted before anything was asked", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os._exit(OUTPUT_CLOSED)
    if code == INTERRUPTED:
        # A thread may still be inside an engine that cannot be stopped; everything recorded is on disk already.
        sys.stderr.flush()
        os._exit(INTERRUPTED)
    sys.exit(code)


def _dispatch(arguments: Sequence[str]) -> int:
    """Run the verb that the arguments begin with and give its exit code."""
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        print(_help())
        return 0 if arguments else MISTAKE
    verb = arguments[0]
    if verb == "--version":
        print(f"leadline {__version__}")
        return 0
    if verb not in VERBS:
        raise UsageError(f"there is no verb {verb!r}: give one of {', '.join(VERBS)}, or --help")
    return _run_verb(verb, list(arguments[1:]))


def _run_verb(verb: str, arguments: list[str]) -> int:
    import typer

    app: typer.Typer = importlib.import_module(f"leadline.cli.{MODULES.get(verb, verb)}").app
    try:
        code = typer.main.get_command(app)(arguments, prog_name=f"leadline {verb}", standalone_mode=False)
    except typer.Abort:
        return INTERRUPTED
    except typer.TyperException as error:
        message = _message(error)
        if not message:
            # No arguments were given to a verb that has verbs of its own: its help has been printed.
            return MISTAKE
        raise UsageError(f"{' '.join(message.split())} (leadline {verb} --help shows what there is)") from error
    return code if isinstance(code, int) else 0


def _message(error: Exception) -> str:
    """What was wrong with the arguments; the value that could not be read stands in the error's cause alone."""
    from pydantic import ValidationError

    message = str(getattr(error, "format_message", error.__str__)())
    cause = error.__cause__ or error.__context__
    return f"{message}, not {cause.errors()[0]['input']!r}" if isinstance(cause, ValidationError) else message


def _help() -> str:
    width = max(len(verb) for verb in VERBS)
    verbs = "\n".join(f"  {verb:<{width}}  {about}" for verb, about in VERBS.items())
    return (
        "Usage: leadline VERB [OPTIONS]\n\n"
        "Measures how much of its context window a language model can really use.\n\n"
        f"Verbs:\n{verbs}\n\n"
        "Options:\n  --version  show the version\n  --help     show this; every verb has a --help of its own\n\n"
        f"Example: {EXAMPLE}"
    )

"""The exceptions of leadline: one tree, and each message says what was wrong and what to do next."""

from __future__ import annotations

import importlib
from types import ModuleType


class LeadlineError(Exception):
    """Base of every error that leadline raises on purpose.

    The command line prints the message as one line and exits with `exit_code`; it never shows a traceback for one.
    """

    exit_code = 2


class UsageError(LeadlineError):
    """A value from the user that cannot be used: an unknown name, an option out of range, a contradiction."""


class DataError(LeadlineError):
    """A data set, word list or model file that is missing, out of reach, or not what its checksum says."""


class RunFolderError(LeadlineError):
    """A run's folder that cannot be read or written: not a run, another version, a damaged record, a second writer."""


class ModelError(LeadlineError):
    """A model that cannot be loaded or does not answer."""


class MissingExtraError(LeadlineError):
    """An optional package that the request needs and that is not installed."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional package, or say which extra of leadline brings it.

    Args:
        module: importable name, for example ``"openvino_genai"``.
        extra: the extra of leadline that installs it, for example ``"local"``.

    Raises:
        MissingExtraError: the package cannot be imported.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"this needs the package {package}, which cannot be imported ({error}): "
            f"install it with  pip install 'leadline[{extra}]'"
        ) from error

"""The errors a user can act on. Each message says what was expected, what came and what to do."""

from __future__ import annotations


class GuideError(Exception):
    """Anything a user can put right; the commands print its one sentence and exit with code 2."""


class InputError(GuideError):
    """A path, a video, a label file or an option is not what was expected."""


class BundleError(GuideError):
    """A trained bundle is missing, damaged, hostile or made for something else."""


class OutputError(GuideError):
    """A result cannot be written: no permission, no space, or something stands in the way."""

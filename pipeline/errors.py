"""Errors that users of the pipeline are shown in one line."""

from ..errors import MockBrokerError


class PipelineError(MockBrokerError, ValueError):
    """A path that can't be read, or an invalid option; the message names it, and says why."""

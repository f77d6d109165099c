"""What users of the pipeline are told in one line."""

from ..errors import MockBrokerError


class PipelineError(MockBrokerError, ValueError):
    """A path that can't be read, or an option that makes no sense: names it, and says why."""

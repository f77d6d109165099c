"""What becomes of requests that clients may not make: they are refused as a whole, or for some of what they
name, or their answers tell less (`KafkaApis.scala`, `ControllerApis.scala`)."""

from .guard import guarded

__all__ = ["guarded"]

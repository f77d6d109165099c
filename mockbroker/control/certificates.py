"""The certificate that brokers show."""

from typing import Annotated

from .registry import operation
from .target import Target


@operation("certificates show", "POST", "/certificates/show")
def show_certificate(
    target: Target,
    certificate: Annotated[
        str,
        "valid, expired, not-yet-valid, another-host or another-authority; or a file of your own, in PEM.",
    ],
    key: Annotated[str | None, "The file of its key, if that is not in the same file."] = None,
) -> None:
    """Has brokers show another certificate to clients that connect from now on. Connections that there are
    stay, as in Kafka when a certificate is changed while brokers run."""
    target.access.show_certificate(certificate, key)

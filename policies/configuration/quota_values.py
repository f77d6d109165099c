"""`quota-values`: a client quota that is no finite number.

A client gets INVALID_REQUEST for it since 4.4. Earlier releases store NaN, and infinity for
`request_percentage` and `controller_mutation_rate`.
"""

from typing import Final, Literal

from ..behaviour import Switch

quota_values: Final = Switch[Literal["any", "finite"]](
    name="quota-values",
    summary="whether a client quota may be NaN or infinite",
    answers={"any": False, "finite": True},
    history=(("0.11", "any"), ("4.4", "finite")),
)

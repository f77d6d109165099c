"""`feature-updates`: what UpdateFeatures does if one of several updates is refused (KIP-1022).

With `each-by-itself` the others are carried out, and the answer has a result for each feature. With
`all-or-none`, since 4.0, nothing changes, and the answer has the error of the first feature that is refused.
"""

from typing import Final, Literal

from ..behaviour import Switch

feature_updates: Final = Switch[Literal["each-by-itself", "all-or-none"]](
    name="feature-updates",
    summary="what UpdateFeatures does if one of several updates is refused",
    answers={"each-by-itself": False, "all-or-none": True},
    history=(("0.11", "each-by-itself"), ("4.0", "all-or-none")),
    ids=("KIP-1022",),
)

"""`acl-hosts`: CreateAcls with an ACL without a host.

A client gets INVALID_REQUEST for it since 4.4. Earlier releases add the ACL, which never fits anybody.
"""

from typing import Final, Literal

from ..behaviour import Switch

acl_hosts: Final = Switch[Literal["any", "named"]](
    name="acl-hosts",
    summary="whether an ACL may be created with an empty host",
    answers={"any": False, "named": True},
    history=(("0.11", "any"), ("4.4", "named")),
)

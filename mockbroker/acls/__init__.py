"""Access control lists (KIP-11, KIP-290): what an ACL is, which ACLs a filter means, and what
they allow to whom."""

from .acl import Acl, Operation, PatternType, Permission, ResourceType
from .filter import Filter
from .table import AclTable

__all__ = ["Acl", "AclTable", "Filter", "Operation", "PatternType", "Permission", "ResourceType"]

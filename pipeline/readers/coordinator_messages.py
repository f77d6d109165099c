"""Log messages of group coordinators, from 0.8.2 to 4.x, and of the log cleaner that keeps their topic small.

Comments name the classes that log them; texts differ by release, and each form has its own entry.
"""

import re
from collections.abc import Iterator
from typing import Final

from .log_entries import Entry, cause
from .log_messages import END, Completes, Values, listed, message

_GROUP: Final = r"\[GroupId (?P<group>[^\]]+)\] "
SILENT: Final = "left: its session expired"
"""How it is told that a member's heartbeats stopped."""
REPLACED: Final = "replaced by another with instance id "
"""What a coordinator does with a member when another one joins with its instance id."""
_MEMBERS: Final = listed("detail", r"[)\]]")
_ANY_MEMBER: Final = r"(?:\w+ m|M)ember (?P<member>\S+)(?: with instance id .+)?"


def _loaded(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"finished in {found['took']} ms"}


def _not_loaded(entry: Entry, found: re.Match[str]) -> Values:
    said = found.groupdict().get("why")
    return {"detail": f"failed: {cause(entry) or said or (entry.more or ['?'])[0]}"}


def _uncleaned(entry: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"{found['what']}: {cause(entry) or (entry.more or ['?'])[0]}"}


def _epoch(_: Entry, found: re.Match[str]) -> Values:
    known = f", metadata hash {found['hash']}" if found["hash"] else ""
    return {"detail": f"new group epoch{known}"}


def _preparing(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"PreparingRebalance: {found['why']}" if found["why"] else "PreparingRebalance"}


def _left(_: Entry, found: re.Match[str]) -> Values:
    member = found["member"].rstrip(",")
    why = "" if found["why"] in (None, "", "not provided") else f": {found['why']}"
    return {"detail": f"{member} left{why}"}


def _removed(found: re.Match[str]) -> Iterator[Values]:
    for each in _MEMBERS(found):
        yield {"detail": f"{each['detail'][:200]} left: did not join again in time"}


def _expired_session(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"{found['member']} {SILENT}"}


def _member(did: str) -> Completes:
    return lambda _, found: {"detail": f"{found['member']} {did}"}


def _fenced(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"{found['member']} fenced: {found['why']}"}


def _replaced(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"{found['member']} {REPLACED}{found['instance']}"}


MESSAGES: Final = (
    # GroupCoordinator, GroupMetadataManager
    message(
        "group",
        "reparing to re",
        r"Preparing to re(?:balance|stabilize) group (?P<group>\S+) (?:in state \w+ )?with old generation "
        r"{generation}(?: \(\S+\))?(?: \(reason: (?P<why>[^\n]*?)\)\.?(?: \([\w.]+\))?(?:\n|$))?",
        _preparing,
    ),
    message(
        "group",
        "tabilized group",
        r"[Ss]tabilized group (?P<group>\S+) generation {generation}",
        detail="CompletingRebalance",
    ),
    message(
        "group",
        "Assignment received from leader",
        r"Assignment received from leader (?:\S+ )?for group (?P<group>\S+) for generation "
        r"{generation}",
        lambda _, found: {"group": found["group"].rstrip("."), "detail": "Stable"},
    ),
    message(
        "group",
        "is now empty",
        r"Group (?P<group>\S+) with generation {generation} is now empty",
        detail="Empty",
    ),
    message(
        "group",
        "transitioned to Dead",
        r"Group (?P<group>\S+) transitioned to Dead in generation {generation}",
        detail="Dead",
    ),
    message(
        "group",
        "Bumped group epoch to",
        r"\[GroupId (?P<group>[^\]]+)\] Bumped group epoch to {generation}"
        r"(?: with metadata hash (?P<hash>-?\d+))?",
        _epoch,
    ),
    # GroupMetadataManager, of KIP-848 and KIP-932
    *(
        message(
            "member",
            f"joins the {kind} group using the",
            rf"{_GROUP}{_ANY_MEMBER} joins the {kind} group",
            _member("joined"),
        )
        for kind in ("consumer", "share")
    ),
    message(
        "member",
        "re-joins the consumer group",
        rf"{_GROUP}Static member with instance id .+ re-joins the consumer group using .* "
        r"Created a new member (?P<member>\S+) to replace",
        _member("joined"),
    ),
    *(
        message("member", text, rf"{_GROUP}{_ANY_MEMBER} (?:temporarily )?(?:has )?left ", _member("left"))
        for text in ("left the consumer group", "left the share group")
    ),
    # GroupCoordinator, and GroupMetadataManager of classic groups
    message(
        "member",
        "through explicit `LeaveGroup`",
        r"\[Group(?:Id)? (?P<group>[^\]]+)\] (?:\w+ m|\w+ M|M)ember (?P<member>\S+)(?: with "
        r"instance id \S+)? has "
        rf"left group through explicit `LeaveGroup` request(?:; client reason: (?P<why>[^\n]*?))?\.?{END}",
        _left,
    ),
    message(
        "member",
        "through explicit `LeaveGroup`",
        r"ember (?:MemberMetadata\(memberId=|with memberId=)?(?P<member>[^\s,]+).{0,300}? has left group "
        r"(?P<group>\S+) through explicit `LeaveGroup`(?: request)?(?:; client reason: (?P<why>[^\n]*?))?"
        rf"\.?{END}",
        _left,
    ),
    message(
        "member",
        "has left, removing it from the group",
        r"Member\[group\.instance\.id [^,]*, member\.id (?P<member>[^\]]+)\] in group "
        r"(?P<group>\S+) has left, "
        r"removing(?P<why>)",
        _left,
    ),
    message(
        "member",
        "has failed, removing it from the group",
        r"Member (?P<member>\S+) in group (?P<group>\S+) has failed, removing it",
        _expired_session,
    ),
    message(
        "member",
        "has been removed after session timeout",
        r"Pending member (?P<member>\S+) in group (?P<group>\S+) has been removed after session timeout",
        _expired_session,
    ),
    message(
        "member",
        "removed dynamic members who haven't joined",
        r"Group (?P<group>\S+) removed dynamic members who haven't joined: \w*[(\[]",
        several=_removed,
    ),
    message(
        "member",
        "with unknown member id joins group",
        r"ember with (?:groupInstanceId=\S+ and )?unknown member id joins group (?P<group>\S+) in "
        r".*? a new member id "
        r"(?P<member>\S+) ",
        _member("joined"),
    ),
    message(
        "member",
        "Replacing previously mapped member",
        r"Static member with groupInstanceId=(?P<instance>.+?) and unknown member id joins group "
        r"(?P<group>\S+) in .*? Replacing previously mapped member (?P<member>\S+) ",
        _replaced,
    ),
    # GroupCoordinator, GroupCoordinatorService
    message(
        "group",
        "The following groups were deleted",
        r"The following groups were deleted: ",
        several=listed("group", r"\. A total of \d"),
        detail="Dead",
    ),
    message(
        "tombstone",
        "offsets of the group",
        r"The following offsets of the group (?P<group>\S+) were deleted: (?P<detail>[^\n]{1,300})",
    ),
    message(
        "member",
        "fenced from the group because",
        rf"{_GROUP}(?:Streams m|M)ember (?P<member>\S+) fenced from the group because (?P<why>[^\n]*?)\.?"
        r"(?: \([\w.]+\))?(?:\n|$)",
        _fenced,
    ),
    message(
        "refused",
        "Cannot upgrade classic group",
        r"Cannot upgrade classic group (?P<group>\S+) to consumer group because (?P<detail>[^\n]*?)\.?"
        r"(?: \([\w.]+\))?(?:\n|$)",
        api="ConsumerGroupHeartbeat",
        error="GROUP_ID_NOT_FOUND",
    ),
    message(
        "refused",
        "cannot join the group because the instance id",
        rf"{_GROUP}Static member \S+ with instance id (?P<detail>[^\n]{{1,300}}? cannot join "
        r"the group because the instance id (?:is )?is owned by member [^\s.]+)",
        api="ConsumerGroupHeartbeat",
        error="UNRELEASED_INSTANCE_ID",
    ),
    # GroupCoordinatorService
    message(
        "refused",
        "Operation consumer-group-heartbeat with",
        r"Operation consumer-group-heartbeat with \w+\(groupId='(?P<group>[^']*)'.* "
        r"hit an unexpected exception: (?P<detail>[^\n]*?)\.?(?: \([\w.]+\))?(?:\n|$)",
        api="ConsumerGroupHeartbeat",
        error="UNKNOWN_SERVER_ERROR",
    ),
    # OffsetManager, GroupMetadataManager; CoordinatorRuntime since 4.0
    message(
        "load",
        "inished loading offsets",
        r"Finished loading offsets (?:and group metadata )?from {tp} in (?P<took>\d+) milliseconds",
        _loaded,
    ),
    message(
        "load",
        "inished loading of metadata",
        r"Finished loading of metadata from {tp} with epoch \d+ in (?P<took>\d+)ms",
        _loaded,
    ),
    message(
        "load",
        "Scheduling loading of",
        r"Scheduling loading of (?:offsets and group )?metadata from {tp} (?:with|for) epoch {leader_epoch}",
        detail="began",
    ),
    message(
        "load",
        "Scheduling unloading of",
        r"Scheduling unloading of (?:offsets and group )?metadata from {tp}",
        detail="left",
    ),
    message("load", "loading offsets from", r"Error (?:in )?loading offsets from {tp}", _not_loaded),
    message(
        "load",
        "ailed to load metadata from",
        r"Failed to load metadata from {tp} with epoch \d+ due to (?P<why>[^\n]*?)\.?"
        r"(?: \([\w.]+\))?(?:\n|$)",
        _not_loaded,
    ),
    message("tombstone", "expired offsets in", r"(?P<detail>Removed \d+ expired offsets)"),
    message("tombstone", "stale offsets in", r"(?P<detail>Removed \d+ stale offsets)"),
    # GroupCoordinatorShard
    message(
        "tombstone",
        "while cleaning up group metadata",
        r"(?P<detail>Generated \d+ tombstone records while cleaning up group metadata)",
    ),
    # LogCleaner, whose threads are a ShutdownableThread
    message(
        "cleaner",
        "log-cleaner-thread",
        r"\[kafka-log-cleaner-thread-\d+\][,:] (?P<what>Error due to)",
        _uncleaned,
    ),
    message(
        "cleaner",
        "as uncleanable",
        r"Marking its partition \({tp}\) (?P<what>as uncleanable)",
        _uncleaned,
    ),
)

"""Log messages about the lives of brokers: of their own, and of controllers with KRaft.

Comments name the classes that log them.
"""

import re
from typing import Final

from .log_entries import Entry
from .log_messages import END, Values, message

ENDED_ITSELF: Final = "ended itself: "
"""How the detail of a broker that met a fatal error begins."""
TOLD_TO_END: Final = "told to end"


def _state(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"state {found['state']}"}


def _changed(_: Entry, found: re.Match[str]) -> Values:
    """By the fields of a BrokerRegistrationChangeRecord, or of the record of an earlier release."""
    told = found["record"]
    if "fenced=-1" in told or found["name"].startswith("Unfence"):
        return {"detail": "unfenced"}
    if "fenced=1" in told or found["name"].startswith("Fence"):
        return {"detail": "fenced"}
    return {
        "detail": "in controlled shutdown" if "inControlledShutdown=1" in told else "registration changed"
    }


def _registered(_: Entry, found: re.Match[str]) -> Values:
    epoch = re.search(r"brokerEpoch=(\d+)|epoch (\d+)", found[0])
    number = next(filter(None, epoch.groups()), None) if epoch else None
    return {"detail": f"registered, epoch {number}" if number else "registered"}


def _ended_itself(_: Entry, found: re.Match[str]) -> Values:
    return {"detail": f"{ENDED_ITSELF}{found['why'].strip()[:300]}"}


MESSAGES: Final = (
    # ReplicaFetcherThread up to 1.0, LogManager, ReplicaManager, BrokerLifecycleManager,
    # ProcessTerminatingFaultHandler, Kafka
    *(
        message("broker", text, rf"(?P<why>{re.escape(text)}[^\n]*?){END}", _ended_itself)
        for text in (
            "Exiting because log truncation is not allowed",
            "Halting because log truncation is not allowed",
            "Halting broker because dir ",
            "Shutdown broker because ",
            "Shutting down because we were unable to register",
            "Shutting down because couldn't communicate offline log dir",
            "Encountered fatal fault",
            "Exiting Kafka due to fatal exception",
        )
    ),
    # LoggingSignalHandler: often the last line, since log4j then shuts down beside the broker.
    message("broker", "Terminating process due to signal", "due to signal", detail=TOLD_TO_END),
    # BrokerLifecycleManager
    message(
        "broker",
        "Successfully registered broker",
        r"Successfully registered broker {broker} with broker epoch \d+",
        _registered,
    ),
    *(
        message("broker", text, re.escape(text), detail=detail)
        for text, detail in (
            ("The broker has been unfenced", "unfenced"),
            ("The broker is in RECOVERY", "fenced, still in recovery"),
            ("Beginning controlled shutdown", "in controlled shutdown"),
            ("has asked us to exit controlled shutdown", "controlled shutdown granted"),
            # KafkaServer
            ("Starting controlled shutdown", "in controlled shutdown"),
            ("Proceeding to do an unclean shutdown", "unclean shutdown: the controlled one failed"),
        )
    ),
    message(
        "broker",
        "server.Kafka",
        r"\[KafkaServer id={broker}\] (?P<detail>starting|started|shutting down|shut down "
        r"completed) \(kafka\.",
    ),
    message(
        "broker",
        "ransition from S",
        r"\[BrokerServer id={broker}\] Transition from \w+ to (?P<state>\w+)",
        _state,
    ),
    message(
        "controller",
        "Unable to send a heartbeat because the RPC got timed out",
        r"(?P<detail>Unable to send a heartbeat) because the RPC got timed out",
    ),
    # ReplicationControlManager, BrokerHeartbeatManager
    message(
        "broker",
        "because its session has timed out",
        r"Fencing broker {broker}(?: at epoch \d+)? because its session has timed out",
        detail="fenced: its session timed out",
    ),
    message(
        "broker",
        "has requested and been granted",
        r"(?:Unf|F)enced broker {broker} has requested and been granted (?P<detail>an? [\w "
        r"]+shutdown|fencing)",
    ),
    # ClusterControlManager
    message(
        "broker",
        "BrokerRecord ",
        r"Replayed (?:initial )?RegisterBrokerRecord (?:modifying the registration |establishing a new "
        r"incarnation of |)(?:for )?(?:broker )?{broker}: [^\n]*",
        _registered,
    ),
    message(
        "broker",
        "modifying the registration for broker",
        r"Replayed (?P<name>(?:BrokerRegistrationChange|(?:Unf|F)enceBroker)Record) modifying the "
        r"registration "
        r"for broker {broker}: (?P<record>[^\n]*)",
        _changed,
    ),
    *(
        message("broker", text, rf"{text}: \w+\(.*?brokerId={{broker}}", detail=detail)
        for text, detail in (
            ("Registered new broker", "registered"),
            ("Re-registered broker incarnation", "registered"),
            ("Unregistered broker", "unregistered"),
            ("Fenced broker", "fenced"),
            ("Unfenced broker", "unfenced"),
        )
    ),
)

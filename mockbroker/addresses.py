"""Hosts and ports in one text: IPv6 addresses have brackets there, `[::1]:9092`."""

import ipaddress


def joined(host: str, port: int) -> str:
    """`127.0.0.1:9092`, `[::1]:9092`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parted(address: str) -> tuple[str, int]:
    """Host and port of an address as `joined` writes it; without a host, that of this machine. ValueError."""
    host, _, port = address.strip().rpartition(":")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


def given(text: str, what: str) -> tuple[str, int]:
    """Host and port of what somebody has given as `what`. ValueError says how to write it."""
    try:
        host, port = parted(text)
    except ValueError:
        host, port = "", 0
    if not host or not 0 < port < 1 << 16 or ":" not in text:
        raise ValueError(f"{what} {text!r}: write it as HOST:PORT")
    return host, port


def several(text: str, what: str) -> list[tuple[str, int]]:
    """HOST:PORT,HOST:PORT. ValueError."""
    return [given(each, what) for each in text.split(",")]


def of_client(host: str) -> str:
    """A client's address as its socket has it, but in the form of IPv4 if it reached a socket for IPv6 with
    it."""
    if ":" not in host:
        return host
    found = ipaddress.IPv6Address(host)
    return host if found.ipv4_mapped is None else str(found.ipv4_mapped)


def as_java_has_it(host: str) -> str:
    """`0:0:0:0:0:0:0:1` for `::1`: what brokers tell of their clients (`Inet6Address.getHostAddress`)."""
    if ":" not in host:
        return host
    found = ipaddress.IPv6Address(host)
    words = (int.from_bytes(found.packed[i : i + 2]) for i in range(0, 16, 2))
    scope = f"%{found.scope_id}" if found.scope_id else ""
    return ":".join(f"{each:x}" for each in words) + scope

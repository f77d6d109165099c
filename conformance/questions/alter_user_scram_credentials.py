"""AlterUserScramCredentials: what users log in with by SCRAM (KIP-554, KIP-900)."""

from typing import Any, Final

from ..registry import Scene, Steps

SHA_256: Final = 1
SHA_512: Final = 2


def upsertion(
    name: str, mechanism: int = SHA_256, iterations: int = 8192, salt: bytes = b"salt", password: bytes = b"p"
) -> dict[str, Any]:
    """The password is salted already."""
    return {
        "name": name,
        "mechanism": mechanism,
        "iterations": iterations,
        "salt": salt,
        "salted_password": password,
    }


def deletion(name: str, mechanism: int = SHA_256) -> dict[str, Any]:
    return {"name": name, "mechanism": mechanism}


def in_order(answer: Any) -> Any:
    """Users and mechanisms come in the order of hash tables."""
    if isinstance(answer, str):
        return answer
    for each in answer["results"]:
        each.get("credential_infos", []).sort(key=lambda info: int(info["mechanism"]))
    return {**answer, "results": sorted(answer["results"], key=lambda each: str(each["user"]))}


def alter(s: Scene, *upsertions: dict[str, Any], deletions: tuple[dict[str, Any], ...] = ()) -> Any:
    fields = {"deletions": list(deletions), "upsertions": list(upsertions)}
    return in_order(s.call("alter_user_scram_credentials", fields))


def described(s: Scene, *names: str) -> Any:
    users = [{"name": name} for name in names]
    return in_order(s.call("describe_user_scram_credentials", {"users": users}))["results"]


def infos(s: Scene, name: str) -> list[tuple[int, int]]:
    """Mechanisms and iterations of a user."""
    (one,) = described(s, name)
    return [(info["mechanism"], info["iterations"]) for info in one["credential_infos"]]


def set_and_delete(s: Scene) -> Steps:
    name = s.name("u")
    yield "set", alter(s, upsertion(name))
    s.until(lambda: infos(s, name) == [(SHA_256, 8192)])
    yield "set another mechanism", alter(s, upsertion(name, SHA_512, 4096))
    s.until(lambda: len(infos(s, name)) == 2)
    yield "then", described(s, name)
    yield "set again", alter(s, upsertion(name, SHA_256, 16384, b"other", b"q"))
    s.until(lambda: (SHA_256, 16384) in infos(s, name))
    yield "then", described(s, name)
    yield "delete", alter(s, deletions=(deletion(name),))
    s.until(lambda: len(infos(s, name)) == 1)
    yield "then", described(s, name)
    yield "delete again", alter(s, deletions=(deletion(name),))
    yield "delete the last", alter(s, deletions=(deletion(name, SHA_512),))
    s.until(lambda: not infos(s, name))
    yield "then", described(s, name)


def bad_values(s: Scene) -> Steps:
    name = s.name("u")
    for mechanism in (-1, 0, 3, 127):
        yield f"mechanism {mechanism}", alter(s, upsertion(name, mechanism))
        yield f"delete with mechanism {mechanism}", alter(s, deletions=(deletion(name, mechanism),))
    for iterations in (-1, 0, 4095, 16385, 2**31 - 1):
        yield f"{iterations} iterations", alter(s, upsertion(name, SHA_256, iterations))
        yield f"{iterations} iterations, SHA-512", alter(s, upsertion(name, SHA_512, iterations))
    yield "empty name", alter(s, upsertion(""))
    yield "delete with an empty name", alter(s, deletions=(deletion(""),))
    yield "empty name and unknown mechanism", alter(s, upsertion("", 9, 1))
    yield "unknown mechanism and too few iterations", alter(s, upsertion(name, 9, 1))
    yield "delete of an unknown user", alter(s, deletions=(deletion(name),))
    yield "nothing", alter(s)


def odd_secrets(s: Scene) -> Steps:
    name = s.name("u")
    yield "empty salt", alter(s, upsertion(name, salt=b""))
    yield "empty password", alter(s, upsertion(name, password=b""))
    yield "long", alter(s, upsertion(name, salt=b"s" * 1000, password=b"p" * 1000))
    s.until(lambda: infos(s, name))
    yield "delete", alter(s, deletions=(deletion(name),))
    odd = s.name("a,b=c \u00e4")
    yield "odd name", alter(s, upsertion(odd))
    s.until(lambda: infos(s, odd))
    yield "delete it", alter(s, deletions=(deletion(odd),))


def duplicates(s: Scene) -> Steps:
    name, other = s.name("u"), s.name("v")
    yield "set twice", alter(s, upsertion(name), upsertion(name, SHA_512))
    yield "set three times", alter(s, upsertion(name), upsertion(name), upsertion(name))
    yield "another one with it", alter(s, upsertion(name), upsertion(name), upsertion(other))
    s.until(lambda: infos(s, other))
    yield "then", described(s, name, other)
    yield "delete twice", alter(s, deletions=(deletion(other), deletion(other)))
    yield "delete and set", alter(s, upsertion(other, SHA_512), deletions=(deletion(other),))
    yield "bad, then good", alter(s, upsertion(name, 9), upsertion(name))
    yield "good, then bad", alter(s, upsertion(name), upsertion(name, 9))
    yield "delete what is not there, and set", alter(s, upsertion(name), deletions=(deletion(name),))
    yield "then", described(s, name, other)
    yield "delete", alter(s, deletions=(deletion(other),))

"""What users log in with, changed while clients are at work."""

from ..cluster.cluster import Cluster
from ..nearest import nearest
from ..sasl import passwords
from .parameters import Password
from .subjects import USER, User
from .verb import verb


def _is_set(cluster: Cluster, user: User, password: Password) -> str:
    if not passwords.mechanisms(cluster):
        return "nobody logs in with a password: start the cluster with sasl and users"
    same = cluster.passwords.get(user.name) == password
    return f"that is the password of {user.name} already" if same else ""


@verb("set-password", USER, unless=_is_set)
def set_password(cluster: Cluster, user: User, password: Password) -> None:
    """Sets what a user, perhaps a new one, logs in with from now on, by each mechanism. Sessions that there
    are last until the client has to log in again."""
    passwords.set_password(cluster, user.name, password)


def _is_gone(cluster: Cluster, user: User) -> str:
    known = passwords.users(cluster)
    if user.name in known:
        return ""
    return f"no user {user.name!r}{nearest(user.name, known)}" if known else "there are no users"


@verb("remove-user", USER, unless=_is_gone)
def remove_user(cluster: Cluster, user: User) -> None:
    """Removes a user, who can not log in from now on. Sessions that there are last until the client has to
    log in again."""
    passwords.remove_user(cluster, user.name)

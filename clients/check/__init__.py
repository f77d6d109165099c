"""Known stories and behaviours, played to a client: what it tells its user under each answer."""

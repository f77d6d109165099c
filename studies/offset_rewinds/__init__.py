"""LinkedIn's two offset rewinds (2015), as scenarios of `mockbroker run` with real consumers."""

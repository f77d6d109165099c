"""A real cluster in place of a mock: clients reach it through a proxy."""

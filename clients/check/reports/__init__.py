"""A report as a terminal, CI and people read it."""

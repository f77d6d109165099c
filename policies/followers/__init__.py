"""How followers follow their leader, and when they are in sync."""

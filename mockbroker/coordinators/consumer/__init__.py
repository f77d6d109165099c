"""Groups whose assignments are made by the coordinator (KIP-848)."""

"""What a partition knows about idempotent producers."""

"""When segments roll and are deleted."""

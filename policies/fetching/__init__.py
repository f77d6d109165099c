"""What consumers read, where, and up to which offset."""

"""What consumers read, from which replica, and up to which offset."""

"""From an incident that `analyze` found to a simulated history that shows it, and to tests that fail."""

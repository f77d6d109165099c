"""Group coordinators and transaction coordinators."""

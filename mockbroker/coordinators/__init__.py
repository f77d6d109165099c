"""Group coordinators."""

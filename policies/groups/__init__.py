"""Groups, their members and their coordinator."""

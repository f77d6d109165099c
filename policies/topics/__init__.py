"""Creating topics and enlarging them."""

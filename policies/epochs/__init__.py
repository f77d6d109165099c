"""Leader epochs: when they begin, and what is answered for them."""

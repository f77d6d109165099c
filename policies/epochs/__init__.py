"""Leader epochs: when they begin, and how requests about them are answered."""

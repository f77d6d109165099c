"""What a TOML file lets happen to a cluster while a program runs against it."""

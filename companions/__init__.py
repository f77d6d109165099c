"""Libraries for tests in other languages, and what is generated for them."""

"""Which broker is the controller, which brokers count as alive, and which may lead."""

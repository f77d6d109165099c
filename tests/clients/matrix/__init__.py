"""Releases of clients and of brokers with the consumer protocol (KIP-848): what a member gets from each."""

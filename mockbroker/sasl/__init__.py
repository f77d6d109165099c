"""Logins by SASL, as brokers take them. Knows no socket, no clock and no framing."""

"""Listeners, TLS and logins, as clients meet them."""

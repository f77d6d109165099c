"""Transactions, their coordinator, and batches that belong to them."""

"""Requests and answers: one module per API, one model for all its versions."""

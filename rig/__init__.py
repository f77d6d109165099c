"""Asks brokers, real or mock: a client that sends any request, real brokers to start, scenes to ask in.

Questions to brokers (`conformance`) and the drivers of real clients (`clients`) stand on it.
"""

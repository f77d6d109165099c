"""The questions as tests of any broker: `pytest --pyargs mockbroker.conformance --bootstrap HOST:PORT`."""

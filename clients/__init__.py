"""Real clients, driven against mock brokers: is the client right?

`drivers` starts a client and tells it what to do; `hunt` and `check` judge what it did; `replay` has it do
again what a trace shows.
"""

"""Incidents of real clusters, made on purpose and recorded, and ordinary operations that are none.

Three brokers and a controller, clients in Java, C and Python; what they write is kept, with what is true
of it.
"""

"""Random sequences of requests, put to a real broker and to a mock beside it, answer by answer.

`generating/` draws a sequence from a seed; `playing` puts it to a broker and `binding` fills in the ids that
the broker handed out; `comparing` finds the first answer that differs and gives it a signature; `shrinking`
drops what the difference does not need; `recordings` keeps it, to be played to a mock alone.
"""

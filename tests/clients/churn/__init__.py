"""Members of three clients share a group while its coordinator moves: what they do, and the judge of it."""

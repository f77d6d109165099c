"""Groups whose assignments are made by a member, their leader."""

"""The controller: it decides who leads, who is in sync and which topics there are, and writes it down."""

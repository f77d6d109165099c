"""A page that shows a cluster: live beside the control API, or what a trace in a file tells."""

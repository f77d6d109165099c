"""Experiments: what real clients do on mock clusters, counted and told on a page. Not part of the package."""

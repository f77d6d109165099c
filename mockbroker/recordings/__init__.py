"""Traffic of a cluster in one file, recorded there and played back elsewhere."""

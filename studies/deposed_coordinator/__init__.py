"""KAFKA-20634: a coordinator that was deposed acknowledges a commit that is lost, with real clients."""

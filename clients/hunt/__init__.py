"""Random workloads, random events, and what clients tell their users."""

"""What can be done to a running cluster from outside: one table, from which HTTP, `ctl` and scenarios are
made."""

"""What can be done to a running cluster from outside: one table; HTTP, `ctl` and scenarios come from it."""

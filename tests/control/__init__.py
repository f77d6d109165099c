"""Control of a running cluster from outside."""

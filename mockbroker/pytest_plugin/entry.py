"""What pytest loads by itself: names the plugin, so that it is there once however often it is asked for.

PYTEST_DONT_REWRITE
"""

pytest_plugins = ["mockbroker.pytest_plugin"]

"""The module that pytest loads. It names the plugin, so that it is loaded once, however often it is named.

PYTEST_DONT_REWRITE
"""

pytest_plugins = ["mockbroker.pytest_plugin"]

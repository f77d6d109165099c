"""Handlers are imported at the first request, whichever thread's cluster that comes to."""

import subprocess
import sys

_TWO_THREADS = """
import sys, threading
from mockbroker.apis.registry import HANDLERS, handles
from mockbroker.protocol.api_keys import ApiKey

register = handles(ApiKey.FETCH, changes=True, source="").__code__
registering, found = threading.Event(), threading.Event()

def importing():
    def at_return(frame, event, _):
        if event == "return":  # the handler is registered, the rest of its module not yet run
            registering.set()
            found.wait(0.3)
        return at_return
    sys.settrace(lambda frame, *_: at_return if frame.f_code is register else None)
    HANDLERS[ApiKey.FETCH]

def asking():
    registering.wait()
    handler = HANDLERS[ApiKey.FETCH]
    whole = not sys.modules[handler.__module__].__spec__._initializing
    found.set()
    print("whole" if whole else "half")

threads = [threading.Thread(target=each) for each in (importing, asking)]
for each in threads: each.start()
for each in threads: each.join()
"""


def test_a_handler_that_another_thread_imports_is_given_when_its_module_is_whole() -> None:
    done = subprocess.run([sys.executable, "-c", _TWO_THREADS], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("whole\n", "")

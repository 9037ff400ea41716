"""Runs Synapse in this process, tied to the process that started it.

Arguments: the pid of that process, then Synapse's own. When the parent is gone, however it died, the kernel kills
Synapse, also a stopped one: a killed test leaves none behind. Rust could only ask for this in unsafe code between fork
and exec, hence here.
"""
import ctypes
import fcntl
import os
import runpy
import signal
import sys
import time

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def follow_parent(pid):
    if sys.platform != "linux":
        return
    if ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        sys.exit("the system does not let a process follow its parent")
    if os.getppid() != pid:
        sys.exit("the process that started this one is gone already")


def claim(path):
    """One Synapse a data folder. The kernel lets go of the lock at any death, so a leftover file means nothing."""
    file = open(path, "w")
    for _ in range(50):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError:
            time.sleep(0.1)
    sys.exit("another Synapse runs on this data folder; stop it first")


follow_parent(int(sys.argv.pop(1)))
claimed = claim("lock")
runpy.run_module("synapse.app.homeserver", run_name="__main__", alter_sys=True)

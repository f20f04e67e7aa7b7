"""Runs a module in a process that the kernel kills as soon as it, or a child of it, makes an internet socket.

`python -m tests.no_sockets inference chat ...`. It is a seccomp filter (seccomp(2)), so code that is not Python's is
held to it, too. Linux only; knows nothing of Borrador.
"""

from __future__ import annotations

import ctypes
import platform
import runpy
import struct
import sys

SOCKET = {"x86_64": 41, "aarch64": 198}
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2
KILL, ALLOW = 0x80000000, 0x7FFF0000
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER, FIRST_ARGUMENT = 0, 16
INTERNET = (2, 10)


def forbid() -> None:
    """No internet socket from now on."""
    four, six = INTERNET
    program = b"".join(
        struct.pack("HBBI", *step) for step in (
            (LOAD, 0, 0, NUMBER),
            (EQUAL, 0, 4, SOCKET[platform.machine()]),
            (LOAD, 0, 0, FIRST_ARGUMENT),
            (EQUAL, 1, 0, four),
            (EQUAL, 0, 1, six),
            (RETURN, 0, 0, KILL),
            (RETURN, 0, 0, ALLOW),
        )
    )  # fmt: skip
    steps = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps))
    system = ctypes.CDLL(None, use_errno=True)
    if system.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or system.prctl(SET_SECCOMP, FILTER, header, 0, 0):
        raise OSError(ctypes.get_errno(), "the filter was refused")


if __name__ == "__main__":
    forbid()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)

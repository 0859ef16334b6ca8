"""What `deadheat run` gives a program to write its findings to, made here so that nothing else is measured.
crates/tape/src/mailbox.rs has the format."""
import fcntl
import os
import struct


def mailbox(tapes="", limit=0):
    """The descriptor that the program must inherit (`pass_fds`). With a path of tapes, it records."""
    file = os.memfd_create("deadheat", 0)
    moved = fcntl.fcntl(file, fcntl.F_DUPFD, 900)
    os.close(file)
    os.set_inheritable(moved, True)
    os.truncate(moved, 1 << 36)
    path = f"/proc/{os.getpid()}/fd/{moved}".encode()
    header = struct.pack("=QQIIQII1024s1024s", 0x786F626C69616D64, 8192, 0, bool(tapes), limit, os.getpid(), 0, path, tapes.encode())
    os.pwrite(moved, header, 0)
    return moved

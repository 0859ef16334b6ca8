"""What `deadheat run` gives a program to write its findings to, made here so that nothing else is measured.
crates/tape/src/mailbox.rs has the format."""
import fcntl
import os
import struct


FIRST = 8192  # where findings begin


def mailbox(tapes="", limit=0):
    """The descriptor that the program must inherit (`pass_fds`). With a path of tapes, it records."""
    file = os.memfd_create("deadheat", 0)
    moved = fcntl.fcntl(file, fcntl.F_DUPFD, 900)
    os.close(file)
    os.set_inheritable(moved, True)
    os.truncate(moved, 1 << 36)
    path = f"/proc/{os.getpid()}/fd/{moved}".encode()
    header = struct.pack("=QQIIQII1024s1024s", 0x786F626C69616D64, FIRST, 0, bool(tapes), limit, os.getpid(), 0, path, tapes.encode())
    os.pwrite(moved, header, 0)
    return moved


def is_used(mailbox):
    """Whether a program has found it: one that is checked says at least that it was."""
    _, used = struct.unpack("=QQ", os.pread(mailbox, 16, 0))
    return used > FIRST

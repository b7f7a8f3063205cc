"""Runs a command as a systemd unit would: read-only file system, user, capabilities, system-call filter.

Arguments: the unit, the uid, the folder that may be written, the command. Needs root.
"""

import ctypes
import errno
import os
import re
import struct
import subprocess
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
CLONE_NEWNS = 0x20000
AUDIT_ARCH_X86_64 = 0xC000003E
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
NET_BIND_SERVICE = "net_bind_service"

libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def values(unit, key):
    return re.findall(rf"^{key}=(.*)$", unit, re.M)


def expand(name):
    """The system calls of a set such as @system-service, or the call itself."""
    if not name.startswith("@"):
        return {name}
    command = ["systemd-analyze", "syscall-filter", "--no-pager", name]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = [line.strip() for line in listed.splitlines()[1:]]
    calls = set()
    for each in names:
        if each and not each.startswith("#"):
            calls |= expand(each)
    return calls


def allowed_calls(unit):
    allowed = set()
    for value in values(unit, "SystemCallFilter"):
        for name in value.lstrip("~").split():
            allowed = allowed - expand(name) if value.startswith("~") else allowed | expand(name)
    # systemd adds these to each list of allowed calls.
    return allowed | expand("@default")


def numbers():
    with open("/usr/include/x86_64-linux-gnu/asm/unistd_64.h") as header:
        return {name: int(number) for name, number in re.findall(r"__NR_(\w+) (\d+)", header.read())}


def make_filter(calls):
    """Classic BPF: another architecture and every call that is not listed fail with EPERM."""
    known = numbers()
    listed = sorted(known[name] for name in calls if name in known)
    code = [(0x20, 0, 0, 4), (0x15, 1, 0, AUDIT_ARCH_X86_64), (0x06, 0, 0, ERRNO | errno.EPERM)]
    code.append((0x20, 0, 0, 0))
    for number in listed:
        code += [(0x15, 0, 1, number), (0x06, 0, 0, ALLOW)]
    code.append((0x06, 0, 0, ERRNO | errno.EPERM))
    return b"".join(struct.pack("HBBI", *each) for each in code), len(code)


def protect_files(writable):
    check(libc.unshare(CLONE_NEWNS))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "--bind", writable, writable], check=True)
    with open("/proc/self/mounts") as mounts:
        places = [line.split()[1] for line in mounts]
    for place in places:
        if place != writable and not place.startswith(("/proc", "/sys", "/dev")):
            subprocess.run(["mount", "-o", "remount,bind,ro", place], check=False, stderr=subprocess.DEVNULL)
    subprocess.run(["mount", "-t", "proc", "-o", "subset=pid,hidepid=invisible", "proc", "/proc"], check=True)


def main():
    unit_file, uid, writable, *command = sys.argv[1:]
    if uid != "-":
        with open(unit_file) as file:
            unit = file.read()
        program, length = make_filter(allowed_calls(unit))
        capabilities = [each.lower().removeprefix("cap_") for each in values(unit, "AmbientCapabilities")]
        assert capabilities == [NET_BIND_SERVICE], capabilities
        protect_files(writable)
        filter_file = os.memfd_create("filter", 0)
        os.set_inheritable(filter_file, True)
        os.write(filter_file, program)
        own = [sys.executable, os.path.abspath(__file__), str(filter_file), "-", str(length)]
        capability = f"+{NET_BIND_SERVICE}"
        options = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs"]
        options += [f"--bounding-set=-all,{capability}", f"--inh-caps=-all,{capability}"]
        options += [f"--ambient-caps=-all,{capability}"]
        os.umask(0o077)
        os.execvp("setpriv", ["setpriv", *options, "--", *own, *command])
    # The second run, as the user: only the filter is left to set.
    program = os.pread(int(unit_file), 1 << 20, 0)
    os.close(int(unit_file))
    buffer = ctypes.create_string_buffer(program)
    prog = struct.pack("HxxxxxxP", int(writable), ctypes.addressof(buffer))
    pointer = ctypes.create_string_buffer(prog)
    check(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(pointer), 0, 0))
    os.execv(command[0], command)


main()

"""The program that confines itself and then becomes another one, by Landlock of Linux and, where it can, by mounts that
nobody else sees. What it starts is confined as well, for good.

It runs before every command, by its path and without moot's packages: it imports next to nothing. Its arguments are
pairs of a kind and an absolute path, `--`, and the program with its own arguments. The kinds:

    write   everything below may be read, run and changed
    device  may be read, written and controlled
    closed  nothing below may be read; all else may
    read    may be read and run, though it is below what is closed
    empty   a folder that looks empty, if it is there
    frozen  a folder that cannot be changed, if it is there
"""

import ctypes
import os
import stat
import sys

_LEAST_ABI = 3  # of Linux 6.2: before it, files anywhere could be emptied
_NOT_RUN = 126

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REFER, _TRUNCATE, _IOCTL = (1 << bit for bit in (0, 1, 2, 3, 13, 14, 15))
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_REMOVE = 1 << 4 | 1 << 5
_MAKE = 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12  # folders, files, sockets, pipes, links
_MAKE_DEVICES = 1 << 6 | 1 << 11
_WRITE = _READ | _WRITE_FILE | _TRUNCATE | _REFER | _REMOVE | _MAKE
_DEVICE = _READ_FILE | _READ_DIR | _WRITE_FILE | _TRUNCATE | _IOCTL
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_SINCE_5, _SINCE_6 = _IOCTL, 1 | 2  # control of devices; abstract sockets and signals to others

_libc = ctypes.CDLL(None, use_errno=True)
_MOUNT_SETATTR, _CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 442, 444, 445, 446
_SET_NO_NEW_PRIVS, _DROP_POWER = 38, 24
_POWERS = (0, 1, 3, 4, 5, 6, 7, 10)  # over files and users, as far as the rules go; and low ports
_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000
_RDONLY, _NOSUID, _NODEV, _BIND, _REC, _SLAVE = 1, 2, 4, 1 << 12, 1 << 14, 1 << 19
_SIGPIPE, _SIGXFSZ = 13, 25
_HERE, _RECURSIVE = -100, 0x8000


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Below(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def main() -> None:
    if sys.argv[1:] == ["probe"]:
        sys.stdout.write(f"{'confines' * (_abi() >= _LEAST_ABI)} {'covers' * _can_cover()}")
        return
    end = sys.argv.index("--")
    orders = list(zip(sys.argv[1:end:2], sys.argv[2:end:2], strict=True))
    command = sys.argv[end + 1 :]
    try:
        _cover(orders)
        _drop_powers()
        _confine(orders)
        for signal in _SIGPIPE, _SIGXFSZ:  # Python ignores them, and so would all that is started
            _libc.signal(signal, None)
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"moot: The command was not run, because it could not be confined: {error}\n")
        sys.exit(_NOT_RUN)


def _abi() -> int:
    """0 where there is no Landlock."""
    return max(0, _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1))


def _confine(orders: list[tuple[str, str]]) -> None:
    abi = _abi()
    if abi < _LEAST_ABI:
        raise OSError(f"Landlock has version {abi}")
    handled = _WRITE | _MAKE_DEVICES | (_SINCE_5 if abi >= 5 else 0)
    asked = _Ruleset(handled, 0, _SINCE_6 if abi >= 6 else 0)
    rules = _done(_libc.syscall(_CREATE_RULESET, ctypes.byref(asked), ctypes.c_size_t(ctypes.sizeof(asked)), 0))
    _allow(rules, "/", _READ_DIR)  # names can be found out anyway
    for path in _around("/", [path for kind, path in orders if kind == "closed"]):
        try:
            _allow(rules, path, _READ)
        except OSError:  # gone, or closed to us by its owner
            continue
    for kind, path in orders:
        rights = {"write": _WRITE, "device": _DEVICE, "read": _READ}.get(kind, 0)
        if rights and (kind == "write" or os.path.exists(path)):
            _allow(rules, path, rights & handled)
    _done(_libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _done(_libc.syscall(_RESTRICT_SELF, rules, 0))
    os.close(rules)


def _drop_powers() -> None:
    """Those of root that no border holds: to look into other processes, to load drivers, to open files by number. Who
    has none may not drop any, and gains none."""
    for power in range(64):
        if power not in _POWERS:
            _libc.prctl(_DROP_POWER, power, 0, 0, 0)


def _around(path: str, closed: list[str]) -> list[str]:
    """The largest parts of a tree in which nothing is closed. Rules only add: none takes back a part of another."""
    above = path.rstrip("/") + "/"
    if path in closed:
        return []
    if not any(one.startswith(above) for one in closed):
        return [path]
    # A rule would be for what a link leads to, and that has its own place in the tree.
    below = [above + name for name in _names(path) if not os.path.islink(above + name)]
    return [part for one in below for part in _around(one, closed)]


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:  # not to be listed by us
        return []


def _allow(rules: int, path: str, rights: int) -> None:
    found = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(found).st_mode):
            rights &= _OF_FILES
        _done(_libc.syscall(_ADD_RULE, rules, 1, ctypes.byref(_Below(rights, found)), 0))
    finally:
        os.close(found)


def _cover(orders: list[tuple[str, str]]) -> None:
    covered = [(kind, path) for kind, path in orders if kind in ("empty", "frozen") and os.path.isdir(path)]
    if covered:
        _have_own_mounts()
    for kind, path in covered:
        if kind == "empty":
            _mount("tmpfs", path, "tmpfs", _RDONLY | _NOSUID | _NODEV)
        else:
            _mount(path, path, None, _BIND | _REC)
            only_read = (ctypes.c_uint64 * 4)(1)
            size = ctypes.c_size_t(ctypes.sizeof(only_read))
            _done(_libc.syscall(_MOUNT_SETATTR, _HERE, os.fsencode(path), _RECURSIVE, ctypes.byref(only_read), size))


def _have_own_mounts() -> None:
    """As the user that one is. Who may not have them alone may in a namespace of users in which it is the only one."""
    user, group = os.getuid(), os.getgid()
    if _libc.unshare(_NEW_MOUNTS) != 0:
        _done(_libc.unshare(_NEW_MOUNTS | _NEW_USER))
        for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(line)
    _mount(None, "/", None, _SLAVE | _REC)  # else others would see them


def _can_cover() -> bool:
    """Tried out on ourselves: several systems grant the namespace, and then nothing in it."""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        _cover([("frozen", here), ("empty", here)])
    except OSError:
        return False
    return True


def _mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    texts = [None if one is None else os.fsencode(one) for one in (source, target, kind)]
    _done(_libc.mount(*texts, ctypes.c_ulong(flags), None))


def _done(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main()

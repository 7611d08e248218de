"""Loop devices that do not outlive a crash: the kernel detaches a device when its last user closes it."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_CONTROL: Final = "/dev/loop-control"
_GET_FREE: Final = 0x4C82
"""LOOP_CTL_GET_FREE: include/uapi/linux/loop.h, like all that follows."""
_CONFIGURE: Final = 0x4C0A
"""LOOP_CONFIGURE, since Linux 5.8: sets file and flags in one step, so that the device is never attached without `_AUTOCLEAR`."""
_AUTOCLEAR: Final = 4
_DIRECT: Final = 16
"""LO_FLAGS_DIRECT_IO: the file's own page cache is not used."""
_CONFIG: Final = struct.Struct("=II 5Q 4I 64s 64s 32s 2Q 8Q")
"""struct loop_config: the file's descriptor, the block size, a struct loop_info64, and reserved fields."""


@dataclass(frozen=True)
class Loop:
    """A loop device over a file. `held` is an open descriptor of the device, which is detached once this is closed and no mount is left."""

    path: str
    held: int

    def release(self) -> None:
        os.close(self.held)

    def in_use(self) -> bool:
        """Whether its file system is still mounted, in any mount namespace."""
        try:
            os.close(os.open(self.path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
        except OSError as reason:
            if reason.errno != errno.EBUSY:
                raise
            return True
        return False

    def requests(self) -> int:
        """Number of reads and writes in flight."""
        return sum(map(int, Path(f"/sys/block/{Path(self.path).name}/inflight").read_text(encoding="ascii").split()))

    def written(self) -> int:
        """Bytes written to it since it was attached: Documentation/block/stat.rst, in sectors of 512 bytes whatever the device's."""
        return int(Path(f"/sys/block/{Path(self.path).name}/stat").read_text(encoding="ascii").split()[6]) * 512


def attach(file: Path, *, direct: bool = False) -> Loop:
    """Attach `file` to a new device, whose requests reach it by direct I/O or by way of the page cache. Raises `OSError`: there is no free
    device, or this user may not configure it."""
    image = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    control = -1
    try:
        control = os.open(_CONTROL, os.O_RDWR | os.O_CLOEXEC)
        while True:
            path = f"/dev/loop{fcntl.ioctl(control, _GET_FREE)}"
            device = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.ioctl(device, _CONFIGURE, _config(image, file, _AUTOCLEAR | (_DIRECT if direct else 0)))
            except OSError as reason:
                os.close(device)
                if reason.errno != errno.EBUSY:
                    raise
                continue  # another process has taken that number first
            # Read-only: some kernels refuse to mount a device that is open for writing.
            held = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            os.close(device)
            return Loop(path, held)
    finally:
        os.close(image)
        if control >= 0:
            os.close(control)


def _config(image: int, file: Path, flags: int) -> bytes:
    info = (0, 0, 0, 0, 0, 0, 0, 0, flags, os.fsencode(file)[:63], b"", b"", 0, 0)
    return _CONFIG.pack(image, 0, *info, *[0] * 8)

"""Disks whose power can be cut: ext4 on a loop device, or a FUSE file system in memory. Also strace, which only records syncs."""

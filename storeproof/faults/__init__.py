"""The faults, one file each: `find(name)` returns the fault that a guarantee names."""

from storeproof.faults.fault import Fault
from storeproof.faults.registry import faults, find

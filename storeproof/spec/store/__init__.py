"""Store files, and a store in one of its variants."""

from storeproof.spec.store.composite import FRONT, HOME, ROLES, Caching, Composite, Role
from storeproof.spec.store.files import FileKind, FileRule
from storeproof.spec.store.launch import TEMPLATE_NAMES, Command, ContainerLaunch, EndpointLaunch, Launch, Nodes, ProcessLaunch
from storeproof.spec.store.maker import MakersPackage, PackageKind, SupportPeriods
from storeproof.spec.store.store import Cache, Claims, Store, Variant
from storeproof.spec.store.target import Target
from storeproof.spec.store.topology import Service, Topology

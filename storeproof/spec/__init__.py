"""The specification: YAML files in `data`, and the frozen models that read them."""

from storeproof.spec.capability import Capability, CapabilityCase, CapabilityGroup, Dataset, Step
from storeproof.spec.edition import Edition
from storeproof.spec.guarantee import LADDER, NODES, Guarantee
from storeproof.spec.loader import SPEC_ROOT, Spec, load_spec, shipped
from storeproof.spec.model import Model
from storeproof.spec.profile import Profile
from storeproof.spec.scale import Scale
from storeproof.spec.scaling import Scaling, ScalingQuestion
from storeproof.spec.store import ContainerLaunch, EndpointLaunch, ProcessLaunch, Store, Target, Variant
from storeproof.spec.workload import Mix, Workload

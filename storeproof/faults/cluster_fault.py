"""The base class of faults that strike a cluster: one of its nodes, or the network between them."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from storeproof.faults.fault import Fault
from storeproof.launch.handle import FaultMeans, Handle, RunningCluster


class ClusterFault(Fault):
    """A fault that lasts until `end`. The node that it strikes is asked from the cluster at the moment of the strike."""

    needs = FaultMeans.CLUSTER
    loses_node: ClassVar[bool] = False
    """Whether the node is gone until `end`; otherwise it goes on, or will go on, and may still acknowledge writes."""
    lasts: ClassVar[float | None] = None
    """Seconds that it lasts, where no other node need become the primary; None: it lasts until another one is.

    The shipped clusters miss a node after one or two seconds.
    """
    second_lasts: ClassVar[float | None] = None
    """Seconds within which a third node may take over from the one that took over first, and is then struck by `strike_again`; None: no
    second one is."""

    def strike(self, handle: Handle) -> None:
        """Strike the primary.

        Raises:
            Unknown: there is none at this moment.
            MachineFailed: the network cannot be changed, or a killed process did not end.
        """
        cluster = handle.cluster
        assert cluster is not None, "see `cannot`"
        self.strike_node(cluster, cluster.primary())

    @abstractmethod
    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        """Strike this node."""

    def strike_again(self, cluster: RunningCluster, node: str, successor: str) -> None:
        """Strike the node that took the place of the first. See `second_lasts`."""
        raise NotImplementedError

    def end(self, handle: Handle) -> None:
        """End all faults of the cluster; see `RunningCluster.heal`."""
        cluster = handle.cluster
        assert cluster is not None, "see `cannot`"
        cluster.heal()

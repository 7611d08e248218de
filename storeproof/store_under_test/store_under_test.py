"""One variant of a store under test: launches it, connects to it, and verifies that its live settings are the variant's."""

from __future__ import annotations

import contextlib
import itertools
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from storeproof.blame import CaseEnding, ending_of, judge_error
from storeproof.contract import Adapter, Address, Layout, Session, Unknown, load_adapter
from storeproof.contract.address import parse_endpoint
from storeproof.disk.methods import PowerCutMethod
from storeproof.errors import MachineFailed, NotAvailable, SettingsMismatch, StoreDied, StoreproofError, UsageError
from storeproof.launch import launcher
from storeproof.launch.endpoint_probe import EndpointProbe, NotLikeSuchAStore
from storeproof.launch.handle import Handle
from storeproof.launch.request import LaunchRequest
from storeproof.machine import container_engine
from storeproof.outcome import Stage
from storeproof.result.proof import Identity
from storeproof.result.recorder import StoreRecord
from storeproof.result.redact import redact_settings
from storeproof.spec import Spec, Target
from storeproof.spec.reading.inheritance import STORES
from storeproof.spec.store import FRONT
from storeproof.spec.variation import AS_IT_IS, Variation
from storeproof.store_under_test.first_contact import FirstContact, connect
from storeproof.store_under_test.options import Options
from storeproof.store_under_test.part_requests import cluster_request, differing_nodes, part_requests

_ANOTHER = "choose the right server with --launch, --image or --endpoint"
_ANSWER_SECONDS = 5.0
"""Time for a store that failed to answer to answer a probe."""


class StoreUnderTest:
    """One target, as the suites use it."""

    def __init__(self, spec: Spec, target: Target, options: Options, progress: Callable[[str], None]) -> None:
        self.spec = spec
        self.target = target
        self.options = options
        self.scale = options.scale
        self.seed = options.seed
        self.progress = progress
        self.record = StoreRecord(target)
        self._run = secrets.token_hex(3)
        self._numbers = itertools.count()
        self.note: Callable[[Layout], None] = lambda _: None
        """Called with every collection before it is created."""
        self._adapter: Adapter | None = None
        self._shared: Handle | None = None
        self._stage: Stage | None = None
        self._mistrusted = False
        self._blocked: NotAvailable | None = None
        self._sharing = 1
        self._first_contact = FirstContact(target)

    @property
    def adapter(self) -> Adapter:
        """The store's adapter. Raises `NotAvailable` when a client package is missing."""
        if self._adapter is None:
            self._adapter = load_adapter(self.target.store, self.target.file)
        return self._adapter

    def layout(self, model: str, indexes: int = 0, record: Variation = AS_IT_IS) -> Layout:
        """A collection with an unused name."""
        layout = Layout(f"sp_{self._run}_{next(self._numbers)}", record.applied(self.spec.models[model]), indexes)
        self.note(layout)
        return layout

    def connect(self, where: Handle | Address) -> Session:
        address = where if isinstance(where, Address) else where.address
        return connect(self.adapter, address, self.target.configuration.options)

    def launch(
        self, purpose: str, *, on_volume: bool = False, recorded: bool = False, in_memory: bool = False, front_bytes: int | None = None
    ) -> Handle:
        """Start a new, empty store and verify its settings; the caller closes it.

        Args:
            on_volume: put its data on a volume whose power can be cut.
            recorded: on one that records what is done to it.
            in_memory: keep its files in memory if possible.
            front_bytes: of a composite store, the memory of its front in place of what the variant gives it.

        Raises:
            NotAvailable: the store cannot run here; every later call raises it again.
            StoreDied: the store did not start.
            NotAdmitted: it has served no client of the run yet, and does not serve this one.
            SettingsMismatch: the live settings are not the variant's.
        """
        blocked = self._blocked
        try:
            handle = self.make(purpose, on_volume=on_volume, recorded=recorded, in_memory=in_memory, front_bytes=front_bytes)
            try:
                self.first_start(handle, front_bytes)
            except BaseException:
                handle.close()
                raise
        except BaseException:
            if front_bytes is not None:  # it may start as its variant has it
                self._blocked = blocked
            raise
        return handle

    def make(
        self, purpose: str, *, on_volume: bool = False, recorded: bool = False, in_memory: bool = False, front_bytes: int | None = None
    ) -> Handle:
        """Prepare a store as `launch` does, without starting and verifying it: `first_start` does both."""
        if self._blocked:
            raise NotAvailable(str(self._blocked), lack=self._blocked.lack)
        self.progress(f"starting for {purpose}")
        with self._blocking(on_volume=on_volume):
            request = self._request(on_volume=on_volume, recorded=recorded, in_memory=in_memory, front_bytes=front_bytes)
            return launcher.make(request, self.progress)

    def first_start(self, handle: Handle, front_bytes: int | None = None) -> float:
        """Start a store from `make` and verify its settings; returns the seconds until it answered. Raises as `launch` does."""
        began = time.monotonic()
        with self._blocking(on_volume=handle.power_cut_method is not None):
            try:
                handle.start()
            except NotLikeSuchAStore as reason:
                if not self._first_contact.made:
                    raise
                raise StoreDied(f"it was such a store before: {reason}") from None
        took = time.monotonic() - began
        with self._blocking(Exception), self._first_contact.guarded():
            self._verify(handle, self._limits(front_bytes))
        self._first_contact.made = True
        self.record.launch = handle.kind
        self.record.image_digest, self.record.binary_digest = handle.image_digest, handle.binary_digest
        self.record.origins = handle.origins
        with self._blocking():
            self._check_proof()
        return took

    def check_options(self) -> None:
        """Check what the command line names for this store: that the endpoint answers and allows access, that the image exists, and that
        the cited proof is of this store. Raises `UsageError`: one of them does not hold."""
        if self.at_endpoint:
            with contextlib.suppress(NotAvailable):  # a missing client package is an outcome
                handle = launcher.make(self._request(), self.progress)
                try:
                    handle.start()
                finally:
                    handle.close()
        else:
            self._check_images()
        if self.record.proof is not None:
            try:
                self.launch("a look at whether the proof is of this store").close()
            except UsageError:
                raise
            except Exception:  # noqa: BLE001 - why it cannot be tried its cases say, each with the outcome that this is
                self._blocked = None

    def _check_images(self) -> None:
        for name in [store.name for store in self.target.stores if store.name in self.options.images]:
            image = self.options.images[name]
            self.progress(f"looking for the image {image}")
            try:
                container_engine.require_image(image, name)
            except NotAvailable as reason:
                if container_engine.unavailable() is None:  # without an engine the machine lacks something: that is an outcome
                    raise UsageError(str(reason)) from None

    @property
    def at_endpoint(self) -> bool:
        """Whether the user runs the server: nothing can be done to it, and it has no digest."""
        return self.options.launch == "endpoint" or self.target.store.name in self.options.endpoints

    def enter(self, stage: Stage) -> None:
        """A case of a stage starts.

        Correctness does not depend on the disk, and would wait for it half of the time: the shared store of that stage keeps its files in
        memory. The other stages do not use that store.
        """
        before = (self._in_memory, self._cores)
        self._stage = stage
        if (self._in_memory, self._cores) != before:
            self.close_shared()

    @property
    def _in_memory(self) -> bool:
        """Whether the shared store's files lie in memory. Not where memory is limited: they would count."""
        return self._stage is Stage.CORRECTNESS and self.options.memory is None

    @property
    def _cores(self) -> tuple[int, ...]:
        """The cores that it runs on now; none: all. Only speed needs them apart."""
        options = self.options
        apart = bool(options.split.apart) and self._stage is Stage.PERFORMANCE
        return options.split.server if apart or options.cores is not None else ()

    def shared(self) -> Handle:
        """The store that the cases of a stage share; if it died or hung, a new, empty one is launched."""
        if not self.answers():
            self._shared = self.launch("the shared cases", in_memory=self._in_memory)
        assert self._shared is not None
        return self._shared

    def explain(self, silence: Unknown) -> StoreDied | MachineFailed | Unknown:
        """Why the shared store did not answer: it ended by itself, it was killed, or it is running but slow.

        Before the next case it is probed, and replaced if it does not answer.
        """
        self._mistrusted = True
        if self._shared is None:
            return silence
        try:
            self._shared.check_alive()
        except (StoreDied, MachineFailed) as ended:
            return ended
        return silence

    def answers(self) -> bool:
        """Whether there is a shared store. One that failed to answer is probed, and closed if silent; the next case gets a new one."""
        if self._shared is not None and self._mistrusted and not self._responds(self._shared):
            self.close_shared()
        self._mistrusted = False
        return self._shared is not None

    def secrets(self) -> list[str]:
        """The passwords that the run knows. They must not appear in a report or a log."""
        launch = self.target.store.launch
        ways = (way for store in self.target.stores for way in (store.launch.process, store.launch.container))
        services = (each for store in self.target.stores for topology in store.topologies.values() for each in topology.services.values())
        known = [way.password for way in (*ways, *services) if way is not None and way.password]
        url = self.options.endpoints.get(self.target.store.name)
        if url and launch.endpoint and (password := parse_endpoint(url, launch.endpoint.url).password):
            known.append(password)
        return known

    def close_shared(self) -> None:
        if self._shared is not None:
            self._shared.close()
            self._shared = None

    def share_memory(self, stores: int) -> None:
        """From its next start on it has one of that many equal parts of the memory that a store is given. Ends the shared store."""
        self._sharing = stores
        self.close_shared()

    def command(self, selection: str, beside: Iterable[StoreUnderTest] = ()) -> str:
        """The command line that repeats a case as it ran here, on this store and those `beside` it."""
        suts = (self, *beside)
        disks = dict.fromkeys(each.target.disk for each in suts if each.target.disk is not None)
        command = replace(
            self.options.given,
            store=list(dict.fromkeys(each.named for each in suts)),
            disk=[self.options.disk_given(name) for name in disks],
            scale=self.scale.scale,
            edition=self.spec.edition.version,
            seed=self.seed,
            keyword=selection,
        )
        return str(command.about({store.name for sut in suts for store in (sut.target.store, *sut.target.stores)}))

    @property
    def named(self) -> str:
        """What `--store` is given for it."""
        return self.target.named if self.target.file.is_relative_to(STORES) else f"{self.target.file}:{self.target.variant}"

    def log_tail(self) -> str:
        """The last lines that the shared store wrote."""
        return self._shared.log_tail() if self._shared is not None else ""

    @contextlib.contextmanager
    def _blocking(self, errors: type[Exception] = StoreproofError, *, on_volume: bool = False) -> Iterator[None]:
        """If the store cannot be launched, later launches fail at once. Exceptions: a failure of the machine or a missing answer, which the
        next case may not see; and a `NotAvailable` of a launch `on_volume`, since a launch without a volume may work."""
        try:
            yield
        except (MachineFailed, Unknown):
            raise
        except NotAvailable as reason:
            if not on_volume:
                self._blocked = reason
            raise
        except Exception as reason:
            unfit = self.record.version is None and ending_of(reason) is CaseEnding.BREACH  # an adapter with which it was never reached
            if isinstance(reason, errors) or unfit:
                self._blocked = NotAvailable(f"the store could not be tested: {judge_error(reason, claimed=True).detail.splitlines()[0]}")
            raise

    def _limits(self, front_bytes: int | None) -> dict[str, str]:
        """The settings of a front with that much memory, in place of the variant's."""
        composite = self.target.store.launch.composite
        if front_bytes is None or composite is None:
            return {}
        return composite.limited(front_bytes)

    def _request(
        self, *, on_volume: bool = False, recorded: bool = False, in_memory: bool = False, front_bytes: int | None = None
    ) -> LaunchRequest:
        """The launch parameters, from the command line and the store's file."""
        store, options = self.target.store, self.options
        settings = self.target.settings(self.scale.cache_bytes)
        _ = self.adapter  # do not start a store whose client is missing
        endpoint = None
        if url := options.endpoints.get(store.name):
            endpoint = EndpointProbe(url, self.target.file, self.target.variant, tuple(settings), self.layout(store.claims.models[0]))
        whole = LaunchRequest(
            store=store.name,
            launch=self.target.launch,
            probe=self._probe,
            settings=settings,
            kind=options.launch,
            endpoint=endpoint,
            image=options.images.get(store.name),
            data_dir=options.data_dir if self.target.disk is None else options.disks[self.target.disk],
            in_memory=in_memory,
            keep=options.keep,
            power_cut=PowerCutMethod("fuse" if recorded else options.power_cut, self.seed) if on_volume else None,
            forked=self._stage is not Stage.PERFORMANCE,
            cores=self._cores,
            memory=None if options.memory is None else options.memory // self._sharing,
        )
        parts = part_requests(self.target, whole, self.scale.cache_bytes, options.images, self._limits(front_bytes), self._first_contact)
        return replace(whole, parts=parts, cluster=cluster_request(self.adapter, self.target))

    def _responds(self, handle: Handle) -> bool:
        """Whether a store answers within a few seconds. Probed in a thread, since a client may have a longer timeout.

        An endpoint is probed from a child process again, since it may have become hostile.
        """
        if handle.kind == "endpoint":
            try:
                handle.wait_ready()
            except UsageError:
                return False
            return True
        answered = threading.Event()

        def ask() -> None:
            with contextlib.suppress(Exception):  # after any failure the next case cannot use this store
                self._probe(handle.address)
                answered.set()

        asking = threading.Thread(target=ask, name="storeproof-probe", daemon=True)
        asking.start()
        asking.join(_ANSWER_SECONDS)
        return answered.is_set()

    def _probe(self, address: Address) -> None:
        self._first_contact.probe(self.adapter, self.target.configuration.options, address)

    def _verify(self, handle: Handle, of_front: Mapping[str, str]) -> None:
        """Check the product, settings and options that the live store reports; `of_front`: as for its start."""
        store = self.target.store
        limits = {f"{FRONT}.{name}": value for name, value in of_front.items()}
        try:
            session = self.connect(handle)
        except Unknown:
            handle.check_alive()
            raise
        try:
            version = session.version()
            if version.product != store.product:
                raise NotAvailable(
                    f"the server is {version.product} {version.number}, not {store.product}: it cannot be tested as {store.name}",
                    f"if {self.target.file.name} describes this server, set `product: {version.product}` there; else {_ANOTHER}",
                )
            self.record.version = f"{version.product} {version.number}"
            live = dict(session.read_settings(tuple({**self.target.settings(self.scale.cache_bytes), **limits})))
            if options := self.target.options:
                layout = self.layout(store.claims.models[0])
                collection = session.collection(layout)
                collection.prepare()
                try:
                    described = collection.describe()
                    live |= {name: described.get(name, "(not reported)") for name in options}
                finally:
                    collection.clear()
        finally:
            session.close()
        timeouts = {} if handle.cluster is None else dict(handle.cluster.timeouts())
        if not limits:  # the report has the settings of the variant
            self.record.settings, self.record.timeouts = live, timeouts
        wanted = {**self.target.stated_settings, **self.target.options, **limits, **self.target.configuration.timeouts}
        live = {**live, **timeouts}
        differing = [f"{name}: expected {value!r}, found {live.get(name)!r}" for name, value in wanted.items() if live.get(name) != value]
        differing += differing_nodes(handle, self.target, self.connect)
        if differing and self.options.verify_settings:
            raise SettingsMismatch(f"the live settings of {self.target.id} differ from its variant: {'; '.join(differing)}")

    def _check_proof(self) -> None:
        """Make sure that what the run cites is about this very store. Raises `UsageError`: it is not."""
        record = self.record
        if record.proof is not None:
            settings = redact_settings(record.settings, self.secrets())
            record.proof.check(Identity(record.version, settings, record.image_digest, record.binary_digest))

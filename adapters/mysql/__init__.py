"""MySQL and MariaDB, through PyMySQL: one request per operation, autocommit where no transaction is open.

Options of a variant:
    engine: the storage engine of the tables, as `information_schema` spells it; default InnoDB.
    transactional: "1" or "0", for Aria.
    replication: of a cluster of MySQL, `group` or `replicas`; one without this option is NDB Cluster, or MariaDB with Galera.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence

import pymysql
from pymysql.constants import CLIENT, ER

from storeproof.adapters.mysql.clusters.galera import Galera
from storeproof.adapters.mysql.clusters.group_replication import GroupReplication
from storeproof.adapters.mysql.clusters.ndb import Ndb
from storeproof.adapters.mysql.clusters.replicas import Replicas
from storeproof.adapters.mysql.documents import Documents
from storeproof.adapters.mysql.json import MariaDb, MySql
from storeproof.adapters.mysql.link import LOCK_WAIT, TIMEOUT, Connection, Link, failure_of
from storeproof.adapters.mysql.structures import Lists, Rankings, Sets
from storeproof.adapters.mysql.table import DIALECT
from storeproof.adapters.mysql.text import LIMITS
from storeproof.adapters.mysql.values import Counters, Hashes, Rows, Values
from storeproof.contract import Address, Collection, Layout, Unknown, Unsupported, Version

DATABASE = "storeproof"
"""Used where the address names none; the launches in `spec/stores/` create it."""

_SETTINGS = (
    f"SET SESSION innodb_lock_wait_timeout = {LOCK_WAIT}, SESSION lock_wait_timeout = {LOCK_WAIT},"
    # Of the indexes that the session makes: the server's stop words are English, and the texts are not.
    " SESSION innodb_ft_enable_stopword = OFF,"
    # MariaDB's JSON_ARRAYAGG cuts what it collects at this length; 2**30 is the most that a packet has.
    " SESSION group_concat_max_len = 1073741824"
)

_TABLES: Mapping[str, type[Values | Hashes | Rows | Counters | Lists | Sets | Rankings]] = {
    "value": Values,
    "hash": Hashes,
    "row": Rows,
    "counter": Counters,
    "list": Lists,
    "set": Sets,
    "ranking": Rankings,
}
"""By kind of record; documents have a table of their own."""

_ONLINE = "SELECT 1 FROM performance_schema.replication_group_members WHERE member_id = @@server_uuid AND member_state = 'ONLINE'"
_TOO_MANY = {ER.CON_COUNT_ERROR, ER.TOO_MANY_USER_CONNECTIONS}


def connect(address: Address, options: Mapping[str, str]) -> Session:
    """One session in autocommit mode. Raises `Refused` for wrong credentials or database, `Unknown` while no server answers."""
    try:
        connection = Connection(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password or "",
            database=address.database or DATABASE,
            charset="utf8mb4",
            # The server's own sql_mode may cut values that are too long, and make another engine's tables without a word.
            sql_mode="STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION",
            init_command=_SETTINGS,
            autocommit=True,
            # Affected rows are the rows found: an update to the same value has found its record.
            client_flag=CLIENT.FOUND_ROWS | CLIENT.MULTI_STATEMENTS,
            connect_timeout=TIMEOUT,
            read_timeout=TIMEOUT,
            write_timeout=TIMEOUT,
            ssl=ssl.create_default_context() if address.tls else None,
            ssl_disabled=not address.tls,  # else it would use TLS where it is offered, and not say so
        )
        return Session(connection, options)
    except pymysql.MySQLError as reason:
        if reason.args and reason.args[0] in _TOO_MANY:
            raise Unknown(f"{address}: {reason}") from reason
        raise failure_of(reason) from reason
    except RuntimeError as reason:  # PyMySQL's, for an authentication that needs a package which is not installed
        raise Unsupported(f"client and server have no protocol in common: {reason}") from reason


class Session(Link):
    """One connection: also Transactions."""

    def __init__(self, connection: Connection, options: Mapping[str, str]) -> None:
        super().__init__(connection, options.get("engine", "InnoDB"))
        self._options = options
        # Only MariaDB has Aria, which cannot be left out of it; its version can be set to anything (`--version`).
        facts = self._variables(("version", "version_comment", "max_allowed_packet", "aria_block_size", *LIMITS))
        self._mariadb = "aria_block_size" in facts
        self._version, self._comment = facts["version"], facts["version_comment"]
        self._limits = {name: facts[name] for name in LIMITS if name in facts}
        self.packet = int(facts["max_allowed_packet"])

    def version(self) -> Version:
        for product, shown in (("TiDB", self._version), ("Percona Server", self._comment)):
            if product in shown:
                return Version(product, self._version)
        return Version("MariaDB" if self._mariadb else "MySQL", self._version.removesuffix("-log"))

    def read_settings(self, names: Sequence[str]) -> dict[str, str]:
        found = self._variables(names)
        if self.engine == "ndbcluster" and (others := [name for name in names if name not in found]):
            # What the data nodes run with; where they differ, all values are listed.
            rows = self.read(
                "SELECT param_name, GROUP_CONCAT(DISTINCT config_value) FROM ndbinfo.config_values JOIN ndbinfo.config_params"
                f" ON param_number = config_param WHERE param_name IN ({DIALECT.marks(len(others))}) GROUP BY param_name",
                *others,
            )
            found |= {str(name): str(value) for name, value in rows}
        return found

    def _variables(self, names: Sequence[str]) -> dict[str, str]:
        if not names:  # a variant need not name settings, and SQL knows no empty list
            return {}
        rows = self.read(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({DIALECT.marks(len(names))})", *names)
        return {str(name): str(value) for name, value in rows}

    def collection(self, layout: Layout) -> Collection:
        """Of a group only from a member that is online, as MySQL Router serves clients: a server that was started again and has not joined
        yet knows nothing of `group_replication_consistency`, and answers reads by what it had."""
        if self._options.get("replication") == "group" and not self.read(_ONLINE):
            raise Unknown("this server is no online member of the group")
        kind = layout.model.record.kind
        if kind == "document":
            return Documents(self, layout, self._options, MariaDb() if self._mariadb else MySql(), self._limits)
        if kind == "hash" and layout.indexed and self.engine == "ndbcluster":
            raise Unsupported("ndbcluster cannot index a prefix of a BLOB")
        if kind not in _TABLES:
            raise Unsupported(f"the adapter has no table for records of the kind {kind}")
        return _TABLES[kind](self, layout, self._options)

    def compact(self) -> str:
        """MariaDB's InnoDB has a command for a checkpoint (in every build since MDEV-30000); for others OPTIMIZE rewrites the tables."""
        if self.engine == "ndbcluster":
            raise Unsupported("checkpoints are automatic; only the management client can request one")
        if self.engine == "InnoDB" and self._mariadb:
            command = "SET GLOBAL innodb_log_checkpoint_now = ON"
            self.run(command)
            return command
        found = self.read("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND engine = %s", self.engine)
        if tables := ", ".join(f"`{name}`" for (name,) in found):
            self.run(f"OPTIMIZE TABLE {tables}")
        return "OPTIMIZE TABLE"

    def close(self) -> None:
        try:
            self._connection.close()
        except (pymysql.MySQLError, OSError):
            return  # it was closed already, or the server is gone: either way it has ended


def cluster(options: Mapping[str, str]) -> Galera | GroupReplication | Ndb | Replicas:
    if options.get("engine") == "ndbcluster":
        return Ndb()
    replication = options.get("replication")
    if replication == "group":
        return GroupReplication()
    return Replicas() if replication == "replicas" else Galera()

"""LMDB: what its host does with it. The adapter only passes the operations on."""

import itertools

import lmdb

from storeproof.embedded import serve, session


def open_database(data, settings):
    return lmdb.open(str(data), map_size=8 << 30, max_readers=2000, sync=settings["sync"] == "yes")


def version(env):
    return "LMDB", ".".join(map(str, lmdb.version()))


def read_settings(env):
    return {"sync": "yes" if env.flags()["sync"] else "no"}


def full(name, key=""):
    return f"{name}/{key}".encode()


def prepare(env, name):
    """All collections are in one table, each under a prefix."""


def clear(env, name):
    with env.begin(write=True) as txn, txn.cursor() as cursor:
        while cursor.set_range(full(name)) and cursor.key().startswith(full(name)):
            cursor.delete()


def get(env, name, key):
    with env.begin() as txn:
        return txn.get(full(name, key))


def exists(env, name, key):
    return get(env, name, key) is not None


def put(env, name, key, record):
    put_many(env, name, {key: record})


def put_many(env, name, records):
    with env.begin(write=True) as txn:
        for key, record in records.items():
            txn.put(full(name, key), record)


def delete(env, name, key):
    with env.begin(write=True) as txn:
        return txn.delete(full(name, key))


def compare_and_set(env, name, key, expected, record):
    with env.begin(write=True) as txn:
        return txn.get(full(name, key)) == expected and txn.put(full(name, key), record)


def put_if_absent(env, name, key, record):
    return compare_and_set(env, name, key, None, record)


def scan(env, name, start, count, backwards):
    own = full(name)
    first = own[:-1] + b"0" if backwards and start is None else full(name, start or "")  # "0" comes after "/"
    with env.begin() as txn, txn.cursor() as cursor:
        there = cursor.set_range(first)
        if backwards and not (there and cursor.key() == first):
            there = cursor.prev() if there else cursor.last()
        records = (cursor.iterprev if backwards else cursor.iternext)() if there else ()
        ours = itertools.takewhile(lambda record: record[0].startswith(own), records)
        return [(key[len(own) :].decode(), record) for key, record in itertools.islice(ours, count)]


READS = (version, read_settings, prepare, get, exists, scan)
WRITES = (clear, put, put_many, delete, compare_and_set, put_if_absent)
FUNCTIONS = {each.__name__: each for each in READS + WRITES}
ERRORS = {lmdb.Error: "unknown", lmdb.BadValsizeError: "refused", lmdb.MapFullError: "refused"}


def connect(address, options):
    return session(address, options, FUNCTIONS)


if __name__ == "__main__":
    serve(open_database, FUNCTIONS, writes=[each.__name__ for each in WRITES], errors=ERRORS)

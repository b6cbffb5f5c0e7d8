"""Reading all values of an LMDB in Python: `lmdb_rows.py THREADS`, then row names on stdin (timing.py). Their bytes are touched."""

import os

import lmdb
import numpy

from timing import serve


def read_lmdb():
    path = os.environ["TERN_PICTURES"] + ".packed/pictures.lmdb"

    def walk(touch, buffers):
        with lmdb.open(path, readonly=True, lock=False) as database, database.begin(buffers=buffers) as transaction:
            for value in transaction.cursor().iternext(keys=False):
                touch(value)

    def words(value):
        return numpy.frombuffer(value, numpy.uint64, len(value) // 8).sum()

    return {"summed in place": lambda: walk(words, True), "copied": lambda: walk(len, False)}


ROWS = {"read_lmdb": read_lmdb}

if __name__ == "__main__":
    serve(ROWS)

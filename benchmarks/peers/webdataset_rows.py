"""The rows of tar shards in webdataset: `webdataset_rows.py THREADS`, then row names on stdin (timing.py)."""

import os
from pathlib import Path

import webdataset
from webdataset import tariterators

from timing import serve

PICTURES = Path(os.environ["TERN_PICTURES"])


def read_tar():
    path = f"{PICTURES}.packed/pictures.tar"

    def pipeline():
        for sample in webdataset.WebDataset(path, shardshuffle=False):
            len(sample["jpg"])

    def iterators():
        with open(path, "rb") as file:
            for sample in tariterators.group_by_keys(tariterators.tar_file_expander([{"url": path, "stream": file}])):
                len(sample["jpg"])

    return {"WebDataset": pipeline, "tariterators": iterators}


def pack(target, sync):
    """Bytes as they are, which are faster than through the encoder. tern syncs its file, so the peer's is synced as well where there is a disk."""

    def step():
        with open(target, "wb") as file:
            with webdataset.TarWriter(file, encoder=False) as writer:
                number = 0
                for label, folder in enumerate(sorted(PICTURES.iterdir())):
                    for path in sorted(folder.iterdir()):
                        writer.write({"__key__": f"{number:08}", "jpg": path.read_bytes(), "cls": str(label).encode(),
                                      "filename.txt": f"{folder.name}/{path.name}".encode()})
                        number += 1
            file.flush()
            if sync:
                os.fsync(file.fileno())
        os.unlink(target)

    return {"TarWriter, synced" if sync else "TarWriter": step}


ROWS = {"read_tar": read_tar, "pack_tar": lambda: pack(f"{PICTURES}.packed.peer.tar", True),
        "pack_tar_in_memory": lambda: pack("/dev/shm/tern-pictures-peer.tar", False)}

if __name__ == "__main__":
    serve(ROWS)

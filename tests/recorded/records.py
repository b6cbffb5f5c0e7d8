#!/usr/bin/env python3
"""Small files of packed data, written by the programs whose formats they are, and what is in them: records.json.

    python3 -m venv /tmp/records && /tmp/records/bin/pip install tensorflow-cpu webdataset lmdb
    /tmp/records/bin/python tests/recorded/records.py

RecordIO's program is retired, so its file is put together here from MXNet's documentation of the format. Files are gzipped, in hexadecimal.
"""

import gzip
import io
import json
import struct
import sys
import tarfile
import tempfile
from pathlib import Path

import lmdb
import tensorflow as tf
import webdataset

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from datum import datum_class

PICTURE = b"\xff\xd8 not quite a JPEG \0\1\2"


def packed(data):
    return gzip.compress(data, 9, mtime=0).hex()


def tfrecord(folder):
    feature, train = tf.train.Feature, tf.train

    def example(features):
        return train.Example(features=train.Features(feature=features)).SerializeToString(deterministic=True)

    examples = [
        example({
            "image/encoded": feature(bytes_list=train.BytesList(value=[PICTURE])),
            "image/class/label": feature(int64_list=train.Int64List(value=[7])),
            "image/filename": feature(bytes_list=train.BytesList(value=[b"cats/1.jpg"])),
            "weights": feature(float_list=train.FloatList(value=[0.5, -1.25, 3e30])),
            "numbers": feature(int64_list=train.Int64List(value=[0, -1, 2**62, 300])),
            "texts": feature(bytes_list=train.BytesList(value=[b"", b"a", "é".encode()])),
            "nothing": feature(),
        }),
        example({"image": feature(bytes_list=train.BytesList(value=[b"x" * 5000])), "label": feature(int64_list=train.Int64List(value=[0]))}),
    ]
    path = folder / "a.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for message in [*examples, b""]:
            writer.write(message)
    return {"name": "tfrecord", "file": packed(path.read_bytes()), "records": [message.hex() for message in [*examples, b""]]}


def tar(name, style, samples, others=True, mode=0o644):
    """An archive of samples; `others`: also of members that are part of none."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=style) as archive:
        if others:
            folder = tarfile.TarInfo("folder.d")
            folder.type = tarfile.DIRTYPE
            archive.addfile(folder)
        for key, fields in samples:
            for field, content in fields:
                member = tarfile.TarInfo(f"{key}.{field}")
                member.size, member.mode = len(content), mode
                archive.addfile(member, io.BytesIO(content))
        if others:
            archive.addfile(tarfile.TarInfo("without-a-dot"))
    return {"name": f"tar {name}", "file": packed(file.getvalue()),
            "samples": [{"key": key, "fields": [[field, content.hex()] for field, content in fields]} for key, fields in samples]}


def tars():
    samples = [("train/0001", [("jpg", PICTURE), ("cls", b"3")]), ("train/0002", [("seg.png", b"p" * 700), ("cls", b"12"), ("json", b"{}")]),
               ("0002", [("jpg", b"")])]
    folder = "/".join(["a-folder-with-a-long-name"] * 5)
    yield tar("ustar", tarfile.USTAR_FORMAT, [*samples, (f"{folder}/long", [("jpg", b"1"), ("cls", b"4")])])
    # Written with the metadata that the library writes.
    yield tar("written", tarfile.USTAR_FORMAT, samples, others=False, mode=0o444)
    long = ("x" * 90 + "/") * 3 + "né"
    for name, style in (("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT)):
        yield tar(name, style, [*samples, (long, [("jpg", b"1"), ("cls", b"4")])])


def webdataset_tar(folder):
    path = folder / "w.tar"
    with webdataset.TarWriter(str(path), mtime=0) as writer:
        writer.write({"__key__": "sample0", "jpg": PICTURE, "cls": 5})
        writer.write({"__key__": "sample1", "cls": 6, "png": b"\x89PNG\r\n\x1a\n ..."})
    # It writes fields in the order of their names.
    return {"name": "tar webdataset", "file": packed(path.read_bytes()),
            "samples": [{"key": "sample0", "fields": [["cls", b"5".hex()], ["jpg", PICTURE.hex()]]},
                        {"key": "sample1", "fields": [["cls", b"6".hex()], ["png", b"\x89PNG\r\n\x1a\n ...".hex()]]}]}


def lmdb_folder(folder):
    datum = datum_class()
    values = {b"00000000_cats/1.jpg": datum(data=PICTURE, label=3, encoded=True).SerializeToString(),
              b"00000001": datum(channels=3, height=1, width=2, data=b"abcdef", label=-2).SerializeToString(),
              b"00000002_large": datum(channels=1, height=50, width=120, data=bytes(i % 251 for i in range(6000)), label=1).SerializeToString()}
    for i in range(3, 60):  # more than a page has room for
        values[b"%08d_%d" % (i, i)] = datum(channels=1, height=1, width=100, data=bytes([i] * 100), label=i).SerializeToString()
    environment = lmdb.open(str(folder / "l"), map_size=1 << 20)
    with environment.begin(write=True) as transaction:
        for key, value in values.items():
            transaction.put(key, value)
    environment.close()
    return {"name": "lmdb", "file": packed((folder / "l" / "data.mdb").read_bytes()),
            "records": [[key.hex(), values[key].hex()] for key in sorted(values)[:4]], "count": len(values)}


def recordio():
    magic = struct.pack("<I", 0xCED7230A)

    def part(place, content):
        return magic + struct.pack("<I", place << 29 | len(content)) + content + b"\0" * (-len(content) % 4)

    whole, first, middle, last = range(4)
    header = struct.pack("<IfQQ", 0, 7, 0, 0)
    records = [header + PICTURE,
               struct.pack("<IfQQ", 3, 0, 1, 0) + struct.pack("<fff", 4, 5, 6) + b"labels",
               struct.pack("<IfQQ", 0, 1, 2, 0) + magic + b"12345678" + magic + b"9",  # at multiples of 4
               struct.pack("<IfQQ", 0, 2, 3, 0) + b"1" + magic + b"2"]  # not at one
    written = [part(whole, records[0]), part(whole, records[1]),
               part(first, records[2][:24]) + part(middle, b"12345678") + part(last, b"9"), part(whole, records[3])]
    offsets = [sum(map(len, written[:i])) for i in range(4)]
    return {"name": "recordio", "file": packed(b"".join(written)), "index": "".join(f"{i}\t{offset}\n" for i, offset in enumerate(offsets)),
            "records": [record.hex() for record in records], "labels": [7, 4, 1, 2]}


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    cases = [tfrecord(folder), *tars(), webdataset_tar(folder), lmdb_folder(folder), recordio()]
lines = ",\n".join("  " + json.dumps(case) for case in cases)
versions = f"TensorFlow {tf.__version__}, webdataset {webdataset.__version__}, lmdb {'.'.join(map(str, lmdb.version()))}"
(HERE / "records.json").write_text(f'{{\n"about": "{versions}",\n"cases": [\n{lines}\n]\n}}\n')

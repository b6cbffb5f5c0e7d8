"""Reads files that the library has packed, and compares: peers.py tar|webdataset|lmdb|tensorboard|tensorflow SAMPLES PACKED. main.cpp says what is where."""

import io
import os
import struct
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
READER, SAMPLES, PACKED = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
CONTENTS = [path.read_bytes() for path in sorted(SAMPLES.iterdir())]


def key_of(i):
    """Names of each length about the 100 bytes that a tar header has for them, and longer ones."""
    return f"{'ä' if i % 3 else 'long/' * 40}{'k' * i}{i:03}"


def name_of(i):
    return f"class{i % 5}/{i}.a.jpg"


def kind_of(content):
    return "png" if content.startswith(b"\x89PNG") else "jpg"


def equal(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: {str(got)[:200]} instead of {str(expected)[:200]}")


def read_tar():
    with tarfile.open(PACKED / "fields.tar") as archive:
        members = [(member.name, archive.extractfile(member).read()) for member in archive.getmembers()]
    expected = []
    for i, content in enumerate(CONTENTS):
        expected += [(f"{key_of(i)}.bin", content), (f"{key_of(i)}.seg.txt", b"%d" % i)]
    equal("members", members, expected)
    # The same archive written by tarfile, which fills its last 10,240 bytes up.
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for i, content in enumerate(CONTENTS):
            for field, data in ((kind_of(content), content), ("cls", b"%d" % (i - 1)), ("filename.txt", name_of(i).encode())):
                member = tarfile.TarInfo(f"{i:08}.{field}")
                member.size, member.mode = len(data), 0o444
                archive.addfile(member, io.BytesIO(data))
    packed, written = (PACKED / "images.tar").read_bytes(), file.getvalue()
    equal("the archive's size", len(packed) % 512, 0)
    equal("tarfile's archive", written[:len(packed)] == packed, True)
    equal("what tarfile's archive has more", written[len(packed):].strip(b"\0"), b"")


def read_webdataset():
    import webdataset

    def samples(name):
        return list(webdataset.WebDataset(str(PACKED / name), shardshuffle=False, empty_check=False))

    fields, images = samples("fields.tar"), samples("images.tar")
    equal("samples", (len(fields), len(images)), (len(CONTENTS), len(CONTENTS)))
    for i, content in enumerate(CONTENTS):
        equal(f"sample {i}", (fields[i]["__key__"], fields[i]["bin"], fields[i]["seg.txt"]), (key_of(i), content, b"%d" % i))
        equal(f"picture {i}", (images[i]["__key__"], images[i][kind_of(content)], images[i]["cls"], images[i]["filename.txt"]),
              (f"{i:08}", content, b"%d" % (i - 1), name_of(i).encode()))


def read_lmdb():
    import lmdb
    from datum import datum_class
    datum = datum_class()

    def pairs(name):
        with lmdb.open(str(PACKED / name), readonly=True, lock=False) as environment, environment.begin() as transaction:
            equal("entries", environment.stat()["entries"], len(CONTENTS))
            return list(transaction.cursor())

    equal("pairs", pairs("pairs.lmdb"), sorted((key_of(i).encode(), content) for i, content in enumerate(CONTENTS)))
    for i, (key, value) in enumerate(pairs("images.lmdb")):
        message = datum.FromString(value)
        equal(f"key {i}", key, f"{i:08}_{name_of(i)}".encode())
        if i % 2:
            equal(f"file {i}", (message.data, message.label, message.encoded), (CONTENTS[i], i - 1, True))
        else:
            n = len(CONTENTS[i]) or 1
            equal(f"pixels {i}", (message.data, message.label, message.encoded, message.channels, message.height, message.width),
                  (CONTENTS[i] or b"x", i - 1, False, 1, 1, n))


def read_tensorboard():
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    events = EventAccumulator(str(PACKED / "runs"), size_guidance={"scalars": 0})
    events.Reload()
    equal("version", events.file_version, 2.0)
    equal("tags", sorted(events.Tags()["scalars"]), ["größe", "loss/train"])
    points = [(point.wall_time, point.step, point.value) for point in events.Scalars("loss/train")]
    equal("points", points, [(1.7e9 + i / 4, i * 1000, 0.5**i) for i in range(120)])
    equal("the time of now", abs(events.Scalars("größe")[0].wall_time - os.stat(PACKED / "runs").st_mtime) < 60, True)


def read_tensorflow():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    def records(name):
        return [record.numpy() for record in tf.data.TFRecordDataset(str(PACKED / name))]

    equal("records", records("plain.tfrecord"), CONTENTS)
    with tf.io.TFRecordWriter(str(PACKED / "again.tfrecord")) as writer:
        for content in CONTENTS:
            writer.write(content)
    equal("TensorFlow's file", (PACKED / "again.tfrecord").read_bytes() == (PACKED / "plain.tfrecord").read_bytes(), True)
    for i, message in enumerate(records("examples.tfrecord")):
        feature = dict(tf.train.Example.FromString(message).features.feature)
        equal(f"names {i}", sorted(feature), ["bytes", "floats", "integers", "none"])
        equal(f"bytes {i}", list(feature["bytes"].bytes_list.value), [CONTENTS[i], b"", key_of(i).encode()])
        equal(f"floats {i}", list(feature["floats"].float_list.value), list(struct.unpack("<3f", struct.pack("<3f", i * 0.1, -3e30, 1e-40))))
        equal(f"integers {i}", list(feature["integers"].int64_list.value), [-i, 2**63 - 1, -2**63, i * 1000])
        equal(f"none {i}", feature["none"].int64_list.value[:], [])
        equal(f"bytes of message {i}", tf.train.Example.FromString(message).SerializeToString(deterministic=True) == message, True)
    for i, message in enumerate(records("images.tfrecord")):
        parsed = tf.io.parse_single_example(message, {
            "image/encoded": tf.io.FixedLenFeature([], tf.string), "image/class/label": tf.io.FixedLenFeature([], tf.int64),
            **{f"image/{name}": tf.io.FixedLenFeature([], tf.string) for name in ("filename", "class/text", "format")}})
        equal(f"picture {i}", [parsed[f"image/{name}"].numpy() for name in ("encoded", "class/label", "filename", "class/text", "format")],
              [CONTENTS[i], i - 1, name_of(i).encode(), f"class{i % 5}".encode(), b"PNG" if kind_of(CONTENTS[i]) == "png" else b"JPEG"])


{"tar": read_tar, "webdataset": read_webdataset, "lmdb": read_lmdb, "tensorboard": read_tensorboard, "tensorflow": read_tensorflow}[READER]()

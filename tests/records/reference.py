"""Reads a file that main.cpp wrote by the program whose format it is, and compares: reference.py FOLDER CHECK."""

import sys
import tarfile
from pathlib import Path

COUNT = 40


def picture(i):
    return (b"\xff\xd8" if i % 3 else b"\x89PNG") + bytes((k * k + i) % 251 for k in range(i * i * 7))


def label(i):
    return i * 1000 - 3


def name(i):
    return f"class{i % 3}/{'n' * (i * 4)}é{i}.jpg"


def kind(i):
    return "jpg" if i % 3 else "png"


def expect(got, expected, what):
    if got != expected:
        sys.exit(f"{what}: {str(got)[:200]} is not {str(expected)[:200]}")


def tensorflow(folder):
    import tensorflow as tf

    messages = [tf.train.Example.FromString(record.numpy()) for record in tf.data.TFRecordDataset(str(folder / "a.tfrecord"))]
    expect(len(messages), COUNT, "records")
    for i, message in enumerate(messages):
        feature = message.features.feature
        text = [feature[key].bytes_list.value[0] for key in ("image/encoded", "image/filename", "image/class/text", "image/format")]
        expect(text, [picture(i), name(i).encode(), b"class%d" % (i % 3), b"JPEG" if i % 3 else b"PNG"], f"record {i}")
        expect(list(feature["image/class/label"].int64_list.value), [label(i)], f"label {i}")
    lists, empty = [record.numpy() for record in tf.data.TFRecordDataset(str(folder / "lists.tfrecord"))]
    example = tf.train.Example.FromString(lists)
    feature = example.features.feature
    expect(list(feature["texts"].bytes_list.value), [b"", b"a", b"\0"], "texts")
    expect(list(feature["floats"].float_list.value), [0.5, -2], "floats")
    expect(list(feature["integers"].int64_list.value), [0, -1, -2**63, 2**63 - 1], "integers")
    expect(example.SerializeToString(deterministic=True), lists, "what TensorFlow writes of it")
    expect(empty, b"", "the empty record")


def python_tarfile(folder):
    with tarfile.open(folder / "a.tar") as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}
    expected = {}
    for i in range(COUNT):
        expected |= {f"{i:08d}.{kind(i)}": picture(i), f"{i:08d}.cls": str(label(i)).encode(), f"{i:08d}.filename.txt": name(i).encode()}
    expect(members, expected, "members")
    with tarfile.open(folder / "long.tar") as archive:
        members = [(member.name, member.size) for member in archive]
    lengths = [94, 95, 96, 97, 100, 254, 255, 256, 1000]
    expect(members, [(f"a/{'k' * n}.{field}", size) for n in lengths for field, size in (("jpg", 0), ("json", n * 5))], "members with long names")


def webdataset(folder):
    import webdataset

    samples = list(webdataset.WebDataset(str(folder / "a.tar"), shardshuffle=False))
    expect(len(samples), COUNT, "samples")
    for i, sample in enumerate(samples):
        expect([sample["__key__"], sample[kind(i)], sample["cls"], sample["filename.txt"]],
               [f"{i:08d}", picture(i), str(label(i)).encode(), name(i).encode()], f"sample {i}")


def lmdb(folder):
    import lmdb
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="caffe.proto", package="caffe")
    message = file.message_type.add(name="Datum")
    field = descriptor_pb2.FieldDescriptorProto
    for key, number, of in (("channels", 1, field.TYPE_INT32), ("height", 2, field.TYPE_INT32), ("width", 3, field.TYPE_INT32),
                            ("data", 4, field.TYPE_BYTES), ("label", 5, field.TYPE_INT32), ("encoded", 7, field.TYPE_BOOL)):
        message.field.add(name=key, number=number, type=of, label=field.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    datum = message_factory.GetMessageClass(pool.FindMessageTypeByName("caffe.Datum"))

    def pairs(path):
        with lmdb.open(str(path), readonly=True, lock=False) as environment, environment.begin() as transaction:
            return [(bytes(key), bytes(value)) for key, value in transaction.cursor()]

    records = pairs(folder / "a.lmdb")
    expect(len(records), COUNT, "records")
    for i, (key, value) in enumerate(records):
        expect(key.decode(), f"{i:08d}_{name(i)}", f"key {i}")
        expect(datum.FromString(value), datum(data=picture(i), label=label(i), encoded=True), f"record {i}")
    first, second = pairs(folder / "raw.lmdb")
    expect(datum.FromString(first[1]), datum(channels=1, height=2, width=3, data=b"abcdef", label=-2), "the picture of pixels")
    expect(second, (b"other", b"bytes"), "the other record")


{"tensorflow": tensorflow, "tarfile": python_tarfile, "webdataset": webdataset, "lmdb": lmdb}[sys.argv[2]](Path(sys.argv[1]))

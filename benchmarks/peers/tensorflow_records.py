"""Reading all records of the TFRecord file that tern's side of the row has packed. TensorFlow compares checksums as well. A reduction stays in
its C++, where a loop would return to Python for each record."""

import os

import tensorflow as tf


def read_tfrecord():
    path = os.environ["TERN_PICTURES"] + ".packed/pictures.tfrecord"

    def reduced(buffer_size, parallel=None):
        records = tf.data.TFRecordDataset([path], buffer_size=buffer_size, num_parallel_reads=parallel)

        @tf.function
        def step():
            return records.reduce(tf.constant(0, tf.int64), lambda n, record: n + 1)

        return step

    def looped():
        for record in tf.data.TFRecordDataset([path], buffer_size=1 << 20).as_numpy_iterator():
            len(record)

    modes = {f"reduced, buffer of {size >> 10} KB": reduced(size) for size in (1 << 18, 1 << 20, 1 << 23)}
    return modes | {"reduced, parallel reads": reduced(1 << 20, tf.data.AUTOTUNE), "loop": looped}


ROWS = {"read_tfrecord": read_tfrecord}

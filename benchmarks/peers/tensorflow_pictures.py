"""Batches of pictures by tf.data, with two threads: only the window is decoded, as in TensorFlow's own programs for ImageNet."""

import os
from pathlib import Path

import tensorflow as tf


def decode_crop_2k():
    files = sorted(Path(os.environ["TERN_PICTURES"]).glob("*/*.jpg"))
    mean, deviation = tf.constant([0.485, 0.456, 0.406]), tf.constant([0.229, 0.224, 0.225])

    def read(path, label, method):
        file = tf.io.read_file(path)
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.io.extract_jpeg_shape(file), tf.zeros([1, 0, 4]), area_range=(0.08, 1.0), aspect_ratio_range=(3 / 4, 4 / 3), max_attempts=10,
            use_image_if_no_bounding_boxes=True)
        picture = tf.io.decode_and_crop_jpeg(file, tf.concat([begin[:2], size[:2]], 0), channels=3, dct_method=method)
        picture = tf.image.random_flip_left_right(tf.image.resize(picture, [224, 224]))
        return (picture / 255 - mean) / deviation, label

    def epoch_of(method, deterministic):
        batches = tf.data.Dataset.from_tensor_slices(([str(file) for file in files], [int(file.parent.name) for file in files]))
        batches = batches.shuffle(len(files)).map(lambda path, label: read(path, label, method), num_parallel_calls=2, deterministic=deterministic)
        options = tf.data.Options()
        options.threading.private_threadpool_size = 2
        batches = batches.batch(32).prefetch(2).with_options(options)

        def epoch():
            for _ in batches:
                pass

        return epoch

    return {"in order": epoch_of("", True), "in any order": epoch_of("", False), "in any order, fast cosine transform": epoch_of("INTEGER_FAST", False)}


ROWS = {"decode_crop_2k": decode_crop_2k}

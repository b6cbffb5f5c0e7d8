"""The rows in TensorFlow: `tensorflow_rows.py THREADS`, then row names on stdin (timing.py). Keras models, compiled as a
graph and by XLA; the fastest counts."""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf

import tensorflow_networks
import tensorflow_pictures
import tensorflow_records
import tensorflow_text
import tensorflow_training
from timing import serve

if __name__ == "__main__":
    threads = int(sys.argv[1])
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    tf.random.set_seed(1)
    serve(tensorflow_training.ROWS | tensorflow_text.ROWS | tensorflow_networks.ROWS | tensorflow_pictures.ROWS
          | tensorflow_records.ROWS)

"""The inference rows in an engine that only runs networks: `engine_rows.py ENGINE FOLDER THREADS`, then row names on stdin
(timing.py). FOLDER holds each row's network as ONNX."""

import sys
from pathlib import Path

import numpy

from timing import serve


def random_images(shape):
    return numpy.random.default_rng(1).standard_normal(shape, numpy.float32)


def openvino(path, threads):
    """In float32, which it would leave by itself where the processor computes in bfloat16."""
    from openvino import Core, Tensor

    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    request = Core().compile_model(path, "CPU", settings).create_infer_request()
    images = random_images(request.model_inputs[0].shape)
    request.set_input_tensor(Tensor(images, shared_memory=True))
    return {"latency": request.infer}


def onnxruntime(path, threads):
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = threads
    session = InferenceSession(path, options, ["CPUExecutionProvider"])
    images = random_images(session.get_inputs()[0].shape)
    return {"all optimisations": lambda: session.run(None, {"images": images})}


class Rows(dict):
    """name -> the modes of the network in the file of that name."""

    def __missing__(self, name):
        engine, folder, threads = {"openvino": openvino, "onnxruntime": onnxruntime}[sys.argv[1]], *sys.argv[2:]
        return lambda: engine(Path(folder) / f"{name}.onnx", int(threads))


if __name__ == "__main__":
    serve(Rows())

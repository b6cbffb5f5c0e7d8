"""Files as numpy writes them, byte for byte."""

import io

import numpy as np

from table import write


def numpy_files():
    def bytes_of(save, *args, **kwargs):
        buffer = io.BytesIO()
        save(buffer, *args, **kwargs)
        return buffer.getvalue().hex()

    grid = np.arange(6, dtype=np.float64).reshape(2, 3)
    arrays = {"float": np.array([[1.5, -2], [0, 3]], dtype=np.float32), "double": grid, "half": np.arange(3, dtype=np.float16),
              "int64": np.arange(-1, 2), "int32": np.array([7], dtype=np.int32), "uint8": np.array([0, 255], dtype=np.uint8),
              "bool": np.array([[True], [False]]), "0-d": np.array(2.5), "empty": np.zeros((2, 0, 3), dtype=np.float32),
              "by columns": np.asfortranarray(grid), "3-d by columns": np.asfortranarray(np.arange(24).reshape(2, 3, 4))}
    cases = [{"name": name, "file": bytes_of(np.save, a), "shape": list(a.shape), "values": a.astype(float).ravel().tolist()}
             for name, a in arrays.items()]
    for name, a in {"big-endian": np.array([1], dtype=">f4"), "complex": np.array([1j]), "text": np.array(["a"])}.items():
        cases.append({"name": name, "file": bytes_of(np.save, a), "refused": True})
    several = {"x": np.arange(3), "w.b": np.ones((2, 2), dtype=np.float32), "long": np.zeros(500)}
    for name, save in [("stored", np.savez), ("deflated", np.savez_compressed)]:
        cases.append({"name": name, "archive": bytes_of(save, **several),
                      "arrays": {k: v.astype(float).ravel().tolist() for k, v in several.items()}})
    write("numpy_files", "what numpy.save, savez and savez_compressed write, in hexadecimal; values in row-major order", cases)

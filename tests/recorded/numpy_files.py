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
    for name, a in {"int8": np.array([-128, 127], dtype=np.int8), "int16": np.array([-32768, 32767], dtype=np.int16),
                    "uint16": np.array([0, 65535], dtype=np.uint16), "uint32": np.array([0, 2**32 - 1], dtype=np.uint32),
                    "uint64": np.array([0, 2**53], dtype=np.uint64), "empty int8": np.zeros((0, 3), dtype=np.int8),
                    "big-endian float": grid.astype(">f4"), "big-endian half": np.arange(3).astype(">f2"),
                    "big-endian double, 0-d": np.array(2.5, dtype=">f8"), "big-endian int64 by columns": np.asfortranarray(grid.astype(">i8")),
                    "big-endian int16": np.arange(-300, 300, dtype=">i2"), "big-endian uint16 by columns": np.asfortranarray(grid.astype(">u2")),
                    "big-endian uint32": np.array([2**31], dtype=">u4")}.items():
        cases.append({"name": name, "file": bytes_of(np.save, a), "shape": list(a.shape), "values": a.astype(float).ravel().tolist(),
                      "read_as": {"i1": "int32", "i2": "int32", "u2": "int32", "u4": "int64", "u8": "int64"}.get(a.dtype.str[1:], a.dtype.name)})
    python2 = b"{'descr': u'<i8', 'fortran_order': False, 'shape': (2L, 3L), }"
    for name, data in {"version 2": bytes_of(np.lib.format.write_array, grid.astype(np.int64), version=(2, 0)),
                       "version 3": bytes_of(np.lib.format.write_array, grid.astype(np.int64), version=(3, 0)),
                       "Python 2's long": (b"\x93NUMPY\1\0" + len(python2).to_bytes(2, "little") + python2 + grid.astype(np.int64).tobytes()).hex()}.items():
        a = np.load(io.BytesIO(bytes.fromhex(data)))
        cases.append({"name": name, "file": data, "shape": list(a.shape), "values": a.astype(float).ravel().tolist(), "read_as": a.dtype.name})
    for name, a in {"complex": np.array([1j]), "text": np.array(["a"]), "a record": np.zeros(2, [("a", "<f4"), ("b", ">i2", (2,))])}.items():
        cases.append({"name": name, "file": bytes_of(np.save, a), "refused": {"text": "<U1", "complex": "<c16"}.get(name, repr(a.dtype.descr))})
    several = {"x": np.arange(3), "w.b": np.ones((2, 2), dtype=np.float32), "long": np.zeros(500)}
    mixed = {"names": np.array(["a", "b"]), "depth": np.array([[0, 65535]], dtype=np.uint16), "half": np.array(1.5, dtype=">f2")}
    for name, save in [("stored", np.savez), ("deflated", np.savez_compressed)]:
        cases.append({"name": name, "archive": bytes_of(save, **several),
                      "arrays": {k: v.astype(float).ravel().tolist() for k, v in several.items()}})
    for name, save in [("mixed, stored", np.savez), ("mixed, deflated", np.savez_compressed)]:
        cases.append({"name": name, "mixed": bytes_of(save, **mixed)})
    write("numpy_files", "what numpy.save, savez and savez_compressed write, in hexadecimal; values in row-major order; read_as: the type in tern of one that it would not write so", cases)

"""Files that numpy.load refuses: .npy files with another header, and .npz archives that were changed."""

import io
import struct

import numpy as np

from table import write


def npy(header, version=(1, 0), data=bytes(24)):
    head = header.encode("latin1")
    length = struct.pack("<H" if version[0] == 1 else "<I", len(head))
    return b"\x93NUMPY" + bytes(version) + length + head + data


def refusal(data):
    """The type of what numpy.load throws, or None if it reads the file."""
    try:
        loaded = np.load(io.BytesIO(data))
        if isinstance(loaded, np.lib.npyio.NpzFile):
            for name in loaded.files:
                loaded[name]
    except Exception as error:
        return type(error).__name__
    return None


def headers():
    whole = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"
    yield "as numpy writes it", npy(whole + "\n")
    yield "other spaces, marks and order", npy('{"shape":(3,),"descr" : "<f8","fortran_order":False}')
    yield "version 2", npy(whole, (2, 0))
    yield "version 3", npy(whole, (3, 0))
    yield "version 1.1", npy(whole, (1, 1))
    yield "version 4", npy(whole, (4, 0))
    yield "text after the dictionary", npy(whole + "x\n")
    yield "a second dictionary", npy(whole + whole)
    yield "text before the dictionary", npy("x" + whole)
    yield "another key", npy(whole.replace(", }", ", 'x': 1, }"))
    yield "a key missing", npy("{'descr': '<f8', 'shape': (3,), }")
    yield "a number for a tuple", npy(whole.replace("(3,)", "(3)"))
    yield "a list for a tuple", npy(whole.replace("(3,)", "[3]"))
    yield "sizes without a comma", npy(whole.replace("(3,)", "(1 3)"))
    yield "two commas", npy(whole.replace("(3,)", "(3,,)"))
    yield "a size that begins with 0", npy(whole.replace("(3,)", "(03,)"))
    yield "Python 2's long", npy(whole.replace("(3,)", "(3L,)"))
    yield "Python 2's long in version 3", npy(whole.replace("(3,)", "(3L,)"), (3, 0))
    yield "Python 2's long twice", npy(whole.replace("(3,)", "(3LL,)"))
    yield "Python 2's text", npy(whole.replace("'<f8'", "u'<f8'"))
    yield "no byte order", npy(whole.replace("'<f8'", "'f8'"))
    yield "the machine's byte order", npy(whole.replace("'<f8'", "'=f8'"))
    yield "two byte orders", npy(whole.replace("'<f8'", "'<<f8'"))
    yield "a size with a fraction", npy(whole.replace("(3,)", "(3.,)"))
    yield "a word for an order", npy(whole.replace("False", "Falsely"))
    yield "a number for an order", npy(whole.replace("False", "0"))
    yield "no closing brace", npy(whole.replace("}", ""))
    yield "no comma between members", npy(whole.replace("'<f8',", "'<f8'"))
    yield "mixed marks", npy(whole.replace("'<f8'", "'<f8\""))
    yield "too many elements", npy(whole.replace("(3,)", "(4611686018427387904, 4)"))
    yield "no elements, but too large", npy(whole.replace("(3,)", "(0, 4611686018427387904, 4)"), data=b"")


def archives():
    buffer = io.BytesIO()
    np.savez(buffer, x=np.arange(3), y=np.arange(3))
    whole = buffer.getvalue()
    end = len(whole) - 22
    directory = struct.unpack_from("<I", whole, end + 16)[0]

    def changed(*changes, data=whole):
        data = bytearray(data)
        for at, value in changes:
            data[at:at + len(value)] = value
        return bytes(data)

    yield "whole", whole
    yield "encrypted", changed((directory + 8, b"\1"))
    yield "a patch", changed((directory + 8, b"\x20"))
    yield "strongly encrypted", changed((directory + 8, b"\x40"))
    yield "of a later version", changed((directory + 6, b"\x46"))
    yield "another name in an entry's header", changed((30, b"z"))
    yield "a damaged entry", changed((len(whole) // 4, b"\xff"))
    yield "a directory of another length", changed((end + 12, b"\1"))
    yield "an unknown compression", changed((directory + 10, b"\x63"))


def numpy_refusals():
    cases = []
    for name, data in headers():
        cases.append({"name": name, "npy": data.hex(), "refused": refusal(data)})
    for name, data in archives():
        cases.append({"name": name, "npz": data.hex(), "refused": refusal(data)})
    write("numpy_refusals", "files in hexadecimal; refused: the type of what numpy.load throws, null if it reads the file", cases)


if __name__ == "__main__":
    numpy_refusals()

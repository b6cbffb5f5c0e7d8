"""Shows tensors and shapes in gdb: `source .../include/tern/gdb.py`, by hand or in ~/.gdbinit.

    Tensor<Cpu, float>[2, 3] = {1, 2, 3, 4, 5, 6}
    Tensor<Cpu, float>[3, 2], strides [1, 3], requires_grad = {1, 4, 2, 5, 3, 6}

The elements come in the order of their indices, as many as `set print elements` says. Those of a device that the debugger cannot read are
left out."""

import re
import struct

import gdb
import gdb.printing

# By the value of a DType: its name in C++, and struct's letter; bfloat16 has none.
DTYPES = [("float", "f"), ("double", "d"), ("bfloat16", None), ("half", "e"), ("int64_t", "q"), ("int32_t", "i"), ("uint8_t", "B"), ("bool", "?")]
# What gdb shows an element as, by struct's letter. A 16-bit number becomes a float.
SHOWN = {"f": "float", "d": "double", "e": "float", "q": "long", "i": "int", "B": "int", "?": "bool"}


def listed(numbers):
    return "[" + ", ".join(map(str, numbers)) + "]"


def last_name(type):
    """Cpu of tern::avx2_fma_openmp::Cpu."""
    return type.strip_typedefs().name.rpartition("::")[2]


def element(memory, letter):
    """One element's bytes as a value of gdb's."""
    if letter in (None, "e"):
        number = struct.unpack("<f", b"\0\0" + memory)[0] if letter is None else struct.unpack("<e", memory)[0]
        memory, letter = struct.pack("<f", number), "f"
    elif letter == "B":
        memory, letter = struct.pack("<i", memory[0]), "i"
    return gdb.Value(memory, gdb.lookup_type(SHOWN[letter]))


class Printer:
    """Of the handle whose pointer to a TensorImpl is `impl`; `of` gives "Tensor<Cpu, float>" for the number of its DType."""

    def __init__(self, impl, of):
        self.of, self.problem, self.readable = of, None, False
        if int(impl) == 0:
            self.problem = "undefined"
            return
        try:
            self.impl = impl.dereference()
            self.dtype, self.ndim = int(self.impl["dtype"]), int(self.impl["ndim"])
            self.dims, self.strides = ([int(self.impl[name][i]) for i in range(self.ndim)] for name in ("dims", "strides"))
            if self.dtype >= len(DTYPES) or self.ndim > 8 or any(size < 0 for size in self.dims):
                self.problem = "not initialised"
        except gdb.MemoryError:
            self.problem = "not initialised"
        self.readable = not self.problem and "<Cpu" in of(self.dtype)

    def to_string(self):
        if self.problem:
            return f"{self.of(None)} ({self.problem})"
        text = self.of(self.dtype) + listed(self.dims)
        if int(self.impl["ordinal"]):
            text += f" on device {int(self.impl['ordinal'])}"
        if not bool(self.impl["contiguous"]):
            text += f", strides {listed(self.strides)}"
        return text + (", requires_grad" if int(self.impl["node"]) else "")

    def children(self):
        if not self.readable:
            return
        letter = DTYPES[self.dtype][1]
        size = struct.calcsize(letter or "e")
        data, index = int(self.impl["data"]), [0] * self.ndim
        for position in range(int(self.impl["numel"])):
            at = data + size * sum(i * stride for i, stride in zip(index, self.strides))
            yield f"[{position}]", element(bytes(gdb.selected_inferior().read_memory(at, size)), letter)
            for dim in reversed(range(self.ndim)):  # the next index
                index[dim] += 1
                if index[dim] < self.dims[dim]:
                    break
                index[dim] = 0

    def display_hint(self):
        return "array" if self.readable else None


def handle(value):
    """The pointer of a Tensor or of a class that derives from it; of x[mask], to its elements once they are read."""
    impl = value["impl_"]
    return impl["base"] if impl and int(impl["ndim"]) == 255 else impl


def print_tensor(value):
    device, given = (value.type.strip_typedefs().template_argument(i) for i in range(2))
    return Printer(handle(value), lambda dtype: f"Tensor<{last_name(device)}, {last_name(given)}>")


def print_parameter(value):
    base = next(field for field in value.type.strip_typedefs().fields() if field.is_base_class)
    return print_tensor(value.cast(base.type))


def print_any_tensor(value):
    def of(dtype):
        name = "" if dtype is None else value["device_"]["name"].string()
        return f"AnyTensor<{name.capitalize()}, {DTYPES[dtype][0]}>" if name else "AnyTensor"

    return Printer(handle(value), of)


class ShapePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return listed(int(self.value["d"][i]) for i in range(int(self.value["n"])))


printers = gdb.printing.RegexpCollectionPrettyPrinter("tern")
for name, pattern, printer in (("Tensor", r"Tensor<.*>", print_tensor), ("Parameter", r"nn::(Parameter|Buffer)<.*>", print_parameter),
                               ("AnyTensor", "AnyTensor", print_any_tensor), ("Shape", "detail::Shape", ShapePrinter)):
    printers.add_printer(name, rf"^tern::(\w+::)?{pattern}$", printer)
gdb.printing.register_pretty_printer(None, printers, replace=True)

"""Small pictures of the kinds that PNG and JPEG have, and what Pillow's convert("RGB") makes of them."""

import io
import struct
import zlib

import numpy as np
from PIL import Image, ImageOps

from table import write


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(rows, width, depth, colours, *before):
    header = struct.pack(">IIBBBBB", width, len(rows), depth, colours, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + b"".join([chunk(b"IHDR", header), *before, chunk(b"IDAT", data), chunk(b"IEND", b"")])


def saved(image, kind, **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def pictures():
    random = np.random.default_rng(1)

    def words(*shape):
        return random.integers(0, 1 << 16, shape).astype(">u2")

    def rows(array):
        return [row.tobytes() for row in array]

    colour = random.integers(0, 256, (3, 4, 3)).astype(np.uint8)
    palette = chunk(b"PLTE", bytes(random.integers(0, 256, 12).astype(np.uint8)))
    across, down = np.meshgrid(np.arange(0, 240, 20), np.arange(0, 240, 24))
    smooth = np.dstack([across, down, np.full((10, 12), 90)]).astype(np.uint8)
    ink = np.dstack([smooth, np.full((10, 12, 1), 60, np.uint8)])
    files = {"16-bit colour": png(rows(words(3, 4, 3)), 4, 16, 2), "16-bit colour and transparency": png(rows(words(3, 4, 4)), 4, 16, 6),
             "16-bit grey and transparency": png(rows(words(3, 4, 2)), 4, 16, 4),
             "gamma": png(rows(colour), 4, 8, 2, chunk(b"gAMA", struct.pack(">I", 100000))),
             "sRGB chunk and physical size": png(rows(colour), 4, 8, 2, chunk(b"sRGB", b"\0"), chunk(b"pHYs", bytes(9))),
             "a transparent colour": png(rows(colour), 4, 8, 2, chunk(b"tRNS", struct.pack(">HHH", *map(int, colour[0, 0])))),
             "palette": png([b"\x1b", b"\xe4"], 4, 2, 3, palette),
             "palette and transparency": png([b"\x1b", b"\xe4"], 4, 2, 3, palette, chunk(b"tRNS", b"\0\x80")),
             "1-bit grey": png([b"\xa0", b"\x50"], 4, 1, 0), "4-bit grey": png([b"\x0f\x5a", b"\xc3\x81"], 4, 4, 0),
             "8-bit grey": saved(Image.fromarray(colour[..., 0]), "PNG"),
             "JPEG": saved(Image.fromarray(smooth), "JPEG"), "grey JPEG": saved(Image.fromarray(smooth[..., 0]), "JPEG"),
             "progressive JPEG": saved(Image.fromarray(smooth), "JPEG", progressive=True),
             "CMYK JPEG": saved(Image.fromarray(ink, "CMYK"), "JPEG"),
             "progressive CMYK JPEG": saved(Image.fromarray(ink, "CMYK"), "JPEG", progressive=True)}
    for kind, picture in (("PNG", Image.fromarray(colour)), ("JPEG", Image.fromarray(smooth))):
        for orientation in range(10):
            exif = Image.Exif()
            exif.endian = "<>"[orientation % 2 ^ (kind == "PNG")]
            exif[0x10f], exif[0x112] = "maker", orientation
            files[f"{kind} of orientation {orientation}"] = saved(picture, kind, exif=exif.tobytes())
    samples = {"16-bit colour": words(3, 4, 3), "16-bit colour and transparency": words(3, 4, 4), "16-bit grey and transparency": words(3, 4, 2),
               "16-bit grey": words(3, 4, 1)}
    for name, array in samples.items():
        files[name + ", its samples"] = png(rows(array), 4, 16, {1: 0, 2: 4, 3: 2, 4: 6}[array.shape[2]])
    cases = []
    for name, data in files.items():
        stored = Image.open(io.BytesIO(data))
        image, turned = stored.convert("RGB"), ImageOps.exif_transpose(stored)
        case = {"name": name, "file": data.hex(), "size": list(image.size), "pixels": image.tobytes().hex()}
        if turned is not None and "orientation" in name:
            case |= {"turned_size": list(turned.size), "turned": turned.convert("RGB").tobytes().hex()}
        if name.endswith(", its samples"):
            array = samples[name.removesuffix(", its samples")]
        elif "16-bit" in name or stored.mode not in ("L", "P", "1", "RGB", "RGBA"):
            array = None
        else:
            array = np.atleast_3d(np.array(stored).astype(int) * (255 if stored.mode == "1" else 1))
        if array is not None:
            case["samples"] = array.transpose(2, 0, 1).tolist()
        if name == "16-bit grey, its samples":
            del case["pixels"]  # Pillow clips at 255
        cases.append(case)
    write("pictures", 'files in hexadecimal, and the pixels [H, W, 3] of Pillow\'s convert("RGB"); turned: after exif_transpose; '
          'samples: the numbers stored, [C, H, W], of 1-bit grey 255 times', cases)


if __name__ == "__main__":
    pictures()

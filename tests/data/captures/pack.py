"""Pack captures and the reference's answers for the tests.

    python tests/data/captures/pack.py FOLDER_OF_CAPTURES

Of large captures the answers that are as large again are left out; tests of these need the whole
folder (``TFPROF_SHARED``).
"""

import lzma
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
LARGE = ("gpu-v100-bert-modernized", "gpu-v100-bert-tf23", "tpu-v6e-jax")
LEFT_OUT = ("trace_viewer_streaming",)
LEFT_OUT_OF_LARGE = ("preprocessed", "trace_viewer")


def wanted(path, capture):
    left_out = (*LEFT_OUT, *LEFT_OUT_OF_LARGE) if capture in LARGE else LEFT_OUT
    return path.is_file() and not path.name.startswith(left_out)


def pack(folder):
    """One archive, with nothing in it that depends on when or where it was made."""
    with (
        lzma.open(HERE / f"{folder.name}.tar.xz", "wb", preset=9) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path in sorted(folder.rglob("*")):
            if not wanted(path, folder.name):
                continue
            entry = tarfile.TarInfo(str(path.relative_to(folder.parent)))
            entry.size = path.stat().st_size
            with path.open("rb") as stream:
                archive.addfile(entry, stream)


def main():
    for folder in sorted(Path(sys.argv[1]).iterdir()):
        if folder.is_dir():
            pack(folder)


if __name__ == "__main__":
    main()

"""Other machines, as environments of child processes: kernels for other CPUs in numpy, BLAS and the C library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from numpy._core._multiarray_umath import (  # type: ignore[import-not-found]  # numpy has no public name for them
    __cpu_dispatch__,
    __cpu_features__,
)

COMMAND = "from nnmfaug.cli import main; main()"
KERNELS = {"Nehalem": "SSE42", "Haswell": "AVX2", "Zen": "AVX2", "SkylakeX": "AVX512_SKX"}
"""Kernels of OpenBLAS, and the feature that a CPU needs to run them."""
WITHOUT_FMA = "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-AVX512F"


def machines() -> dict[str, dict[str, str]]:
    """Environments in which this machine computes as another would, and one in which it does as it likes."""
    runnable = [name for name, feature in KERNELS.items() if __cpu_features__.get(feature)]
    features = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    old = {
        "OPENBLAS_CORETYPE": runnable[0] if runnable else "",
        "NPY_DISABLE_CPU_FEATURES": " ".join(features),
        "GLIBC_TUNABLES": WITHOUT_FMA,
    }
    return {"this": {}, "old": old, **{name: {"OPENBLAS_CORETYPE": name} for name in runnable}}


def run_on(machine: dict[str, str], code: str, *arguments: str, folder: Path) -> str:
    """Run code in a child process on one of the machines; return what it prints."""
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    environment = {**os.environ, **machine}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert not done.returncode, done.stderr
    return done.stdout

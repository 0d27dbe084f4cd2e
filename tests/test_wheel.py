"""The built package, core only, in an environment that has nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_wheel_alone_reads_describes_and_writes(tmp_path: Path) -> None:
    def call(*command: str | Path) -> str:
        shown = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        done = subprocess.run(command, cwd=tmp_path, env=shown, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    pip = (sys.executable, "-m", "pip", "-q", "--disable-pip-version-check")
    call(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    call(python, *pip[1:], "install", "-c", ROOT / "constraints.txt", wheel)
    (tmp_path / "graph.tsv").write_text("ann\tlikes\tbob\nbob\tlikes\tann\nann\tknows\tbob\n")
    command = tmp_path / "empty" / "bin" / "nnmfaug"
    assert "2 entities, 2 relations" in call(command, "stats", "graph.tsv")
    call(command, "convert", "graph.tsv", "graph.parquet")
    assert '"triples": 3' in call(command, "convert", "graph.parquet", "graph.csv.zst", "--json")
    heavy = "torch pykeen distributed matplotlib pandas pyoxigraph"
    found = call(
        python, "-c", f"import importlib.util as u; print([m for m in {heavy.split()} if u.find_spec(m)])"
    )
    assert found.strip() == "[]"

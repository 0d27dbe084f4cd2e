"""What the code must not do, looked up in its text; and that a light import stays light."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nnmfaug as na

SOURCE = Path(na.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
HEAVY = {"torch", "pykeen", "dask", "distributed", "matplotlib", "sklearn", "pandas"}
FORBIDDEN_MODULES = {"pickle", "cPickle", "_pickle", "joblib", "dill", "cloudpickle", "shelve", "marshal"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
TORCH = {"Tensor", "nn", "optim"}
NEW_RANDOM = {"default_rng", "Generator", "SeedSequence", "PCG64", "PCG64DXSM", "Philox", "BitGenerator"}


def dotted(node: ast.AST) -> str:
    """``a.b.c`` for such an expression, else nothing."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def value_of(call: ast.Call, keyword: str) -> object:
    found = [k.value for k in call.keywords if k.arg == keyword]
    return found[0].value if found and isinstance(found[0], ast.Constant) else None


def call_findings(call: ast.Call) -> Iterator[str]:
    name = dotted(call.func)
    last = name.rpartition(".")[2]
    if name in FORBIDDEN_CALLS or name.startswith("builtins."):
        yield name
    if name.endswith("torch.load") and value_of(call, "weights_only") is not True:
        yield "torch.load without weights_only=True"
    if value_of(call, "allow_pickle") not in (None, False):
        yield f"{name}(allow_pickle=True)"
    if last in ("load", "load_all", "unsafe_load", "full_load") and "yaml" in name:
        yield name
    if last in ("to_pickle", "read_pickle"):
        yield name
    if value_of(call, "shell") is True or name in ("os.system", "os.popen"):
        yield f"{name} with a shell"
    if last in ("extractall", "extract", "unpack_archive"):
        yield f"{name}: archives are unpacked by nnmfaug.io.archive only"
    if last == "mktemp":
        yield name


def node_findings(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        yield from (f"import {module}" for module in modules if module.split(".")[0] in FORBIDDEN_MODULES)
        if isinstance(node, ast.ImportFrom) and node.module in ("random", "numpy.random", "torch", "yaml"):
            good = TORCH if node.module == "torch" else NEW_RANDOM
            yield from (f"from {node.module} import {a.name}" for a in node.names if a.name not in good)
        yield from (f"import {module}" for module in modules if module == "random")
    if isinstance(node, ast.Assert):
        yield "assert, which -O removes"
    if isinstance(node, ast.Attribute):
        name = dotted(node)
        if name.startswith(("np.random.", "numpy.random.")) and name.split(".")[2] not in NEW_RANDOM:
            yield name
    if isinstance(node, ast.ExceptHandler) and node.type is None:
        yield "bare except"
    if isinstance(node, ast.Call):
        yield from call_findings(node)


def findings(text: str) -> list[str]:
    return [
        f"line {getattr(n, 'lineno', 0)}: {what}" for n in ast.walk(ast.parse(text)) for what in node_findings(n)
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_source_holds_nothing_dangerous(path: Path) -> None:
    assert findings(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "import joblib",
        "import torch\ntorch.load('x')",
        "torch.load('x', weights_only=False)",
        "from torch import load",
        "np.load('x', allow_pickle=True)",
        "yaml.load(x)",
        "from yaml import load",
        "yaml.unsafe_load(x)",
        "eval('1')",
        "exec('1')",
        "assert x",
        "np.random.rand(3)",
        "np.random.seed(0)",
        "import numpy\nnumpy.random.RandomState(0)",
        "from numpy.random import rand",
        "import random",
        "tar.extractall('x')",
        "try:\n    x\nexcept:\n    pass",
        "subprocess.run('x', shell=True)",
        "frame.to_pickle('x')",
    ],
)
def test_the_lint_finds_what_is_dangerous(text: str) -> None:
    assert findings(text)


@pytest.mark.parametrize(
    "text",
    [
        "np.random.default_rng(0)",
        "import numpy as np\nnp.random.Generator",
        "torch.load('x', weights_only=True)",
        "np.load('x', allow_pickle=False)",
        "json.load(x)",
        "yaml.safe_load(x)",
    ],
)
def test_the_lint_passes_what_is_not(text: str) -> None:
    assert findings(text) == []


def test_the_lint_looks_at_all_of_the_source() -> None:
    assert {"knowledge_graph.py", "app.py", "archive.py", "duckdb.py"} <= {path.name for path in FILES}


def loaded(code: str) -> set[str]:
    """The packages that are loaded when code has run in a new process."""
    tell = "import json, sys; print(); print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    program = f"try:\n    {code}\nexcept SystemExit:\n    pass\n{tell}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import nnmfaug",
        "import nnmfaug.cli.app",
        "import sys, nnmfaug.cli; sys.argv = ['nnmfaug', '--help']; nnmfaug.cli.main()",
        "import sys, nnmfaug.cli; sys.argv = ['nnmfaug', 'datasets']; nnmfaug.cli.main()",
        "import sys, nnmfaug.cli; sys.argv = ['nnmfaug', 'stats', 'nations']; nnmfaug.cli.main()",
        "import nnmfaug as na; [getattr(na, name) for name in na.__all__]",
    ],
)
def test_the_light_part_loads_nothing_heavy(code: str) -> None:
    found = loaded(code)
    assert "nnmfaug" in found
    assert found & HEAVY == set()


def test_import_alone_loads_not_even_numpy() -> None:
    assert loaded("import nnmfaug") & {"numpy", "scipy", "duckdb", "pooch", "requests", "rich", "typer"} == set()


def test_the_look_at_loaded_modules_can_fail() -> None:
    assert "pandas" in loaded("import nnmfaug as na; na.to_dataframe(na.KnowledgeGraph.from_labels([]))")


def test_help_lists_the_commands() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from nnmfaug.cli import main; main()", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(command in done.stdout for command in ("stats", "split", "convert", "datasets"))


def test_public_names_resolve_to_what_their_module_holds() -> None:
    homes = {
        alias.name: f"nnmfaug.{node.module}"
        for node in ast.walk(ast.parse((SOURCE / "__init__.pyi").read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(homes) == sorted(na.__all__)
    assert set(na.__all__) <= set(dir(na))
    for name, home in homes.items():
        assert getattr(na, name) is getattr(importlib.import_module(home), name)


def test_no_folder_hides_a_public_name() -> None:
    """A folder that is imported becomes an attribute of the package."""
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    assert folders & set(na.__all__) == set()


def test_an_unknown_public_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="No nnmfaug attribute nonsense"):
        _ = na.nonsense  # type: ignore[attr-defined]


def test_every_public_name_has_a_docstring() -> None:
    for name in na.__all__:
        assert (getattr(na, name).__doc__ or "").strip(), name

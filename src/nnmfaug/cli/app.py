"""The program ``nnmfaug``: its commands, and how errors become messages and exit codes."""

from __future__ import annotations

import errno
import io
import sys
from typing import Annotated

import typer

import nnmfaug as na
from nnmfaug.cli.augment import augment
from nnmfaug.cli.compare import compare
from nnmfaug.cli.console import fail
from nnmfaug.cli.data import convert, datasets_app, split, stats
from nnmfaug.cli.engine_options import uses_workers
from nnmfaug.cli.memory_option import uses_memory
from nnmfaug.cli.predict import predict
from nnmfaug.cli.quality import estimate
from nnmfaug.cli.reading import reads
from nnmfaug.cli.reproduce import reproduce
from nnmfaug.cli.rules import rules
from nnmfaug.cli.synthesize import synthesize

app = typer.Typer(
    name="nnmfaug",
    help="Find missing triples of a knowledge graph, estimate how many are true, and test whether they help a "
    "link predictor. GRAPH is the name of a data set (see: nnmfaug datasets), a file of triples, a folder with "
    "train, valid and test, or an archive of such a folder.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (stats, split, convert):
    app.command()(uses_memory(reads(command)))
for long_command in (augment, rules, estimate, compare):
    app.command()(uses_memory(uses_workers(reads(long_command))))
app.command()(predict)
app.command()(uses_workers(reproduce))
app.command()(synthesize)
app.add_typer(datasets_app, name="datasets")

MISNAMED = (
    *(errno.ENOENT, errno.EEXIST, errno.EISDIR, errno.ENOTDIR),
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP),
)
"""Errors of the operating system that another path would avoid."""


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Handle the options before a command."""
    if version:
        sys.stdout.write(f"nnmfaug {na.__version__}\n")
        raise typer.Exit


def run() -> None:
    """Run the command line, and turn errors into messages and exit codes."""
    _spell_out_unprintable()
    try:
        app(prog_name="nnmfaug")
    except na.DataError as error:
        fail(str(error), 2)
    except OSError as error:
        fail(_describe(error), 2 if error.errno in MISNAMED else 1)
    except na.SamplingError as error:
        fail(str(error), 1)
    except ValueError as error:
        fail(str(error), 2)
    except MemoryError as error:
        reason = str(error) or "for this graph"
        fail(f"not enough memory ({reason}): use a smaller graph, or a machine with more", 1)
    except RecursionError:
        fail("the input is nested too deeply: use a simpler graph or folder", 1)


def _spell_out_unprintable() -> None:
    """Let standard output spell out what its encoding does not have, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _describe(error: OSError) -> str:
    """Describe an error of the operating system, with the path if it is known."""
    if error.filename is None or error.strerror is None:
        return str(error)
    reason = error.strerror.replace("overwrite=True", "--overwrite")
    return f"{error.filename}: {reason}"

"""The program ``nnmfaug``: its commands, and how errors become messages and exit codes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import nnmfaug as na
from nnmfaug.cli.augment import augment
from nnmfaug.cli.compare import compare
from nnmfaug.cli.console import fail
from nnmfaug.cli.data import convert, datasets_app, split, stats
from nnmfaug.cli.predict import predict
from nnmfaug.cli.quality import estimate, rules
from nnmfaug.cli.reading import reads

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
for command in (stats, split, convert, augment, rules, estimate, compare):
    app.command()(reads(command))
app.command()(predict)
app.add_typer(datasets_app, name="datasets")


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Handle the options before a command."""
    if version:
        sys.stdout.write(f"nnmfaug {na.__version__}\n")
        raise typer.Exit


def main() -> None:
    """Run the command line; exit 0 when done, 1 when it could not be done, 2 when the input was bad."""
    try:
        app(prog_name="nnmfaug")
    except KeyboardInterrupt:
        fail("interrupted. Finished work is kept; run the same command again to resume", 130)
    except na.DataError as error:
        fail(str(error), 2)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        fail(f"{error.filename}: {error.strerror}", 2)
    except (OSError, na.SamplingError) as error:
        fail(str(error), 1)
    except ValueError as error:
        fail(str(error), 2)

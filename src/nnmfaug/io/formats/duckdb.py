"""DuckDB: the only module with SQL. Numbers the names of large tables; reads and writes Parquet."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.arrays import Ids
from nnmfaug.core.errors import DataError
from nnmfaug.core.memory import memory_budget
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.read_report import ReadReport, Reject
from nnmfaug.io.formats.dialect import ROLES, read_header
from nnmfaug.io.input_file import InputFile
from nnmfaug.io.resources import disk_error, temporary_file
from nnmfaug.io.stream import BLOCK
from nnmfaug.io.table import Table
from nnmfaug.io.temporary import scratch_folder

CREATE_NAMES = """CREATE TEMP TABLE {table} AS
    SELECT name, (row_number() OVER (ORDER BY name) - 1)::INTEGER AS id FROM ({source})"""
ENTITIES = "SELECT h AS name FROM raw UNION SELECT t FROM raw"
RELATIONS = "SELECT DISTINCT r AS name FROM raw"
JOIN_IDS = """SELECT heads.id AS h, relations.id AS r, tails.id AS t{line} FROM raw
    JOIN entities AS heads ON heads.name = raw.h
    JOIN relations ON relations.name = raw.r
    JOIN entities AS tails ON tails.name = raw.t"""
UNORDERED_IDS = JOIN_IDS.format(line="")
ORDERED_IDS = JOIN_IDS.format(line=", raw.line AS line") + " ORDER BY raw.line"
INCOMPLETE_ROWS = "SELECT line, h, r, t FROM rows WHERE coalesce(h = '' OR r = '' OR t = '', true) ORDER BY line"
COMPLETE_ROWS = "CREATE TEMP VIEW raw AS SELECT * FROM rows WHERE h <> '' AND r <> '' AND t <> ''"
STORED_SIZES = """SELECT (SELECT sum(num_rows) FROM parquet_file_metadata($path)), sum(total_uncompressed_size)
    FROM parquet_metadata($path)"""

NOT_ROWS = (duckdb.InvalidInputException, duckdb.NotImplementedException)
"""Errors of DuckDB for lines that are not rows; the second for megabytes of empty lines."""
MIN_ROW = len("h\tr\tt\n")
"""Number of bytes of the shortest row as a line."""
MEMORY_SHARE = "60%"
"""Part of the memory that DuckDB may use before it spills to disk, unless the user says how much."""


@contextmanager
def connect(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory that spills to ``folder`` and does not use the network."""
    budget = memory_budget()
    connection = duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "temp_directory": str(folder),
            "memory_limit": MEMORY_SHARE if budget is None else f"{budget}B",
        }
    )
    try:
        yield connection
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(str(error)) from error
    except RuntimeError as error:  # DuckDB turns Ctrl-C into this error
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise
    finally:
        connection.close()


@contextmanager
def _spilling(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database of which an error of temporary files is one of our disk."""
    with connect(folder) as connection:
        try:
            yield connection
        except duckdb.IOException as error:
            raise disk_error(str(error).splitlines()[0], folder) from error


def encode_lines(path: Path, delimiter: bytes, max_line: int, report: ReadReport) -> Table | None:
    """Read lines of three columns; their order is lost. Return None unless every line is a triple.

    Nothing is detected: no header, no quotes, no comments, no types. An empty field is null and matches no name.
    """
    with _spilling(path.parent) as db:
        db.execute("SET preserve_insertion_order = false")
        try:
            db.execute(
                f"""CREATE TEMP TABLE raw AS SELECT * FROM read_csv(?,
                    auto_detect = false, header = false, delim = ?, quote = '', escape = '', comment = '',
                    new_line = '\\n', columns = {{'h': 'VARCHAR', 'r': 'VARCHAR', 't': 'VARCHAR'}},
                    max_line_size = {2 * max_line}, buffer_size = {8 * max_line})""",
                [str(path), delimiter.decode()],
            )
        except NOT_ROWS:
            return None
        table = _encode(db, report, keep_order=False)
        if len(table.ids) != report.accepted or _has_long_line(db, table, max_line):
            return None
    return table


def read_parquet(file: InputFile) -> Table:
    """Read a Parquet file, every column as text; a row counts as a line."""
    unpacked = file.scratch / "input.parquet"  # DuckDB would read a * in the path of the user as a pattern
    _copy_unpacked(file, unpacked)
    with _spilling(file.scratch) as db:
        try:
            _load_parquet(db, unpacked, file)
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            reason = str(error).splitlines()[0].replace(str(unpacked), file.shown)
            msg = f"not a readable Parquet file ({reason}): download or write it again"
            raise DataError(msg, path=file.shown) from error
        report = file.options.check(_split_rows(db, file.shown))
        return _encode(db, report, keep_order=file.keep_order)


def write_parquet(graph: KnowledgeGraph, path: Path) -> None:
    """Write the named triples in order, as text columns head, relation and tail."""
    entities = np.array(graph.vocabulary.entities, dtype=object)
    relations = np.array(graph.vocabulary.relations, dtype=object)
    h, r, t = graph.triples.T
    columns = {"head": entities[h], "relation": relations[r], "tail": entities[t]}
    # Not straight to the path: DuckDB accepts only UTF-8 there, and its errors do not tell what is full.
    with scratch_folder() as scratch:
        table = scratch / "table.parquet"
        _write_table(columns, table)
        with table.open("rb") as source, path.open("wb") as target:
            shutil.copyfileobj(source, target)  # copyfile would blame the source for a full disk


def write_numbered_parquet(
    blocks: Iterable[Ids], relations: Sequence[str], prefix: str, width: int, path: Path
) -> None:
    """Write triples of ids, shape (n, 3), block by block, as text columns head, relation and tail.

    Parameters
    ----------
    relations
        The names of the relations.
    prefix, width
        Entity 7 is named ``e007`` for the prefix "e" and the width 3.
    """
    with scratch_folder() as scratch:
        table = scratch / "table.parquet"
        with _spilling(scratch) as db:
            db.execute("SET threads = 1")  # one thread, one order of row groups, the same bytes
            db.execute(f"ATTACH '{_quoted(scratch / 'ids')}' AS disk")
            db.execute("CREATE TABLE disk.ids (h INTEGER, r INTEGER, t INTEGER)")
            for block in blocks:
                db.register("block", dict(zip("hrt", block.T, strict=True)))
                db.execute("INSERT INTO disk.ids SELECT h, r, t FROM block")
            db.register("names", {"r": np.arange(len(relations)), "name": np.array(relations, dtype=object)})
            name = f"'{prefix}' || lpad({{}}::VARCHAR, {width}, '0')"
            db.execute(
                f"""COPY (SELECT {name.format("h")} AS head, name::VARCHAR AS relation, {name.format("t")} AS tail
                    FROM disk.ids JOIN names USING (r) ORDER BY disk.ids.rowid)
                    TO '{_quoted(table)}' (FORMAT parquet, COMPRESSION zstd)"""
            )
        with table.open("rb") as source, path.open("wb") as target:
            shutil.copyfileobj(source, target)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _write_table(columns: dict[str, NDArray[np.object_]], path: Path) -> None:
    with _spilling(path.parent) as db:
        db.register("named", columns)
        db.execute("SET threads = 1")  # one thread, one order of row groups, the same bytes
        db.execute(
            "COPY (SELECT head::VARCHAR AS head, relation::VARCHAR AS relation, tail::VARCHAR AS tail"
            f" FROM named) TO '{_quoted(path)}' (FORMAT parquet, COMPRESSION zstd)"
        )


def _copy_unpacked(file: InputFile, target: Path) -> None:
    with file.stream() as stream, temporary_file(target) as write:
        while block := stream.read(BLOCK):
            write(block)


def _load_parquet(db: duckdb.DuckDBPyConnection, path: Path, file: InputFile) -> None:
    """Load head, relation and tail of every row into the table ``rows``."""
    _check_stored_sizes(db, path, file)
    described = db.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
    names = [str(row[0]) for row in described]
    columns = read_header([name.encode() for name in names])
    if columns is None and len(names) != 3:
        raise DataError(f"columns {', '.join(names)}: name three of them head, relation and tail", path=file.shown)
    h, r, t = (_as_text(names[column]) for column in columns or (0, 1, 2))
    _check_text_size(db, f"sum(strlen({h})), sum(strlen({r})), sum(strlen({t}))", path, file)
    db.execute(
        f"""CREATE TEMP TABLE rows AS SELECT file_row_number + 1 AS line, {h} AS h, {r} AS r, {t} AS t
            FROM read_parquet(?, file_row_number = true)""",
        [str(path)],
    )


def _check_stored_sizes(db: duckdb.DuckDBPyConnection, path: Path, file: InputFile) -> None:
    """Raise at a bomb, before anything of it is unpacked. Equal rows take no bytes, so rows count as well."""
    n_rows, n_bytes = db.execute(STORED_SIZES, {"path": str(path)}).fetchall()[0]
    _check_limits(max(MIN_ROW * (n_rows or 0), n_bytes or 0), file)


def _check_text_size(db: duckdb.DuckDBPyConnection, sums: str, path: Path, file: InputFile) -> None:
    """Raise if the names would fill the memory: a long name is stored once, however often it occurs."""
    n_bytes = db.execute(f"SELECT {sums} FROM read_parquet(?)", [str(path)]).fetchall()[0]
    _check_limits(sum(n or 0 for n in n_bytes), file)


def _check_limits(n_unpacked: int, file: InputFile) -> None:
    reason = file.options.limits.excess(n_unpacked, file.path.stat().st_size)
    if reason:
        cure = "read it in Python with ReadOptions(limits=Limits(...))"
        raise DataError(f"{reason}: if you trust it, {cure}", path=file.shown)


def _as_text(column: str) -> str:
    """The SQL of a column as text."""
    escaped = column.replace('"', '""')
    return f'"{escaped}"::VARCHAR'


def _split_rows(db: duckdb.DuckDBPyConnection, shown: str) -> ReadReport:
    """Show the complete rows as ``raw``, and report the others."""
    incomplete = db.execute(INCOMPLETE_ROWS).fetchall()
    rejects = tuple(Reject(line, _why_rejected(cells), repr(cells)) for line, *cells in incomplete)
    db.execute(COMPLETE_ROWS)
    (n_accepted,) = db.execute("SELECT count(*) FROM raw").fetchall()[0]
    return ReadReport(shown, "parquet", n_accepted, rejected=len(rejects), rejects=rejects)


def _why_rejected(cells: list[str | None]) -> str:
    role = next(role for role, cell in zip(ROLES, cells, strict=True) if not cell)
    return f"the {role} is empty"


def _encode(db: duckdb.DuckDBPyConnection, report: ReadReport, *, keep_order: bool) -> Table:
    """Number the names of the table ``raw``; with ``keep_order`` its rows stay in the order of their lines."""
    db.execute(CREATE_NAMES.format(table="entities", source=ENTITIES))
    db.execute(CREATE_NAMES.format(table="relations", source=RELATIONS))
    rows = db.execute(ORDERED_IDS if keep_order else UNORDERED_IDS).fetchnumpy()
    ids = np.stack([rows["h"], rows["r"], rows["t"]], axis=1).astype(np.int32, copy=False)
    lines = np.asarray(rows["line"], dtype=np.int64) if keep_order else None
    return Table(_names(db, "entities"), _names(db, "relations"), ids, report, lines)


def _has_long_line(db: duckdb.DuckDBPyConnection, table: Table, max_line: int) -> bool:
    longest_entity = max(map(len, table.entities))
    longest_relation = max(map(len, table.relations))
    n_characters = 2 * longest_entity + longest_relation + 2
    if 4 * n_characters <= max_line:  # a character has at most four bytes
        return False
    longest = db.execute("SELECT max(strlen(h) + strlen(r) + strlen(t)) + 2 FROM raw").fetchall()[0][0]
    return bool(longest > max_line)


def _names(db: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    column = db.execute(f"SELECT name FROM {table} ORDER BY id").fetchnumpy()["name"]
    names: list[str] = np.asarray(column, dtype=object).tolist()
    return names

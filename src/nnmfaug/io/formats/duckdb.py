"""DuckDB, the only place that speaks SQL: names to ids for large tables, and Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np

from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.read_report import ReadReport, Reject
from nnmfaug.io.formats.delimited import ROLES, read_header
from nnmfaug.io.options import ReadOptions
from nnmfaug.io.table import Table

NAMES = """CREATE TEMP TABLE {table} AS
    SELECT name, (row_number() OVER (ORDER BY name) - 1)::INTEGER AS id FROM ({source})"""
ENCODE = """SELECT heads.id AS h, relations.id AS r, tails.id AS t{line} FROM raw
    JOIN entities AS heads ON heads.name = raw.h
    JOIN relations ON relations.name = raw.r
    JOIN entities AS tails ON tails.name = raw.t"""


@contextmanager
def connect(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory that spills to ``folder`` and never reaches for the network."""
    connection = duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "temp_directory": str(folder),
        }
    )
    try:
        yield connection
    except RuntimeError as error:  # what DuckDB makes of Ctrl-C
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise
    finally:
        connection.close()


def encode_lines(path: Path, delimiter: bytes, max_line: int, report: ReadReport) -> Table | None:
    """Read lines of three columns; their order is lost. Return None unless every line is a triple.

    Nothing is detected: no header, no quotes, no comments, no types. An empty field is null and matches no name.
    """
    with connect(path.parent) as db:
        db.execute("SET preserve_insertion_order = false")
        try:
            db.execute(
                f"""CREATE TEMP TABLE raw AS SELECT * FROM read_csv(?,
                    auto_detect = false, header = false, delim = ?, quote = '', escape = '', comment = '',
                    new_line = '\\n', columns = {{'h': 'VARCHAR', 'r': 'VARCHAR', 't': 'VARCHAR'}},
                    max_line_size = {2 * max_line}, buffer_size = {8 * max_line})""",
                [str(path), delimiter.decode()],
            )
        except duckdb.InvalidInputException:
            return None
        table = _encode(db, report)
        if len(table.ids) != report.accepted or _has_long_line(db, table, max_line):
            return None
    return table


def read_parquet(path: Path, shown: str, folder: Path, options: ReadOptions) -> Table:
    """Read a Parquet file in order, every column as text; a row counts as a line."""
    link = folder / "input.parquet"  # DuckDB would take a * in the user's own path for a pattern
    link.symlink_to(path.resolve())
    with connect(folder) as db:
        try:
            _load_parquet(db, link, shown)
        except duckdb.Error as error:
            reason = str(error).splitlines()[0].replace(str(link), shown)
            msg = f"not a Parquet file that can be read ({reason}): fetch or write it again"
            raise DataError(msg, path=shown) from error
        bad = db.execute(
            "SELECT line, h, r, t FROM rows WHERE coalesce(h = '' OR r = '' OR t = '', true) ORDER BY line"
        ).fetchall()
        rejects = tuple(Reject(line, _why_rejected(cells), repr(cells)) for line, *cells in bad)
        db.execute("CREATE TEMP TABLE raw AS SELECT * FROM rows WHERE h <> '' AND r <> '' AND t <> ''")
        accepted = len(db.execute("SELECT line FROM raw").fetchnumpy()["line"])
        report = ReadReport(shown, "parquet", accepted, rejected=len(rejects), rejects=rejects)
        return _encode(db, options.check(report), line="raw.line")


def write_parquet(graph: KnowledgeGraph, path: Path) -> None:
    """Write the named triples in order, as columns head, relation, tail of text."""
    entities = np.array(graph.vocabulary.entities, dtype=object)
    relations = np.array(graph.vocabulary.relations, dtype=object)
    h, r, t = graph.triples.T
    columns = {"head": entities[h], "relation": relations[r], "tail": entities[t]}
    with connect(path.parent) as db:
        db.register("named", columns)
        db.execute("SET threads = 1")  # one thread, one order of row groups, the same bytes
        target = str(path).replace("'", "''")
        db.execute(
            f"COPY (SELECT head::VARCHAR AS head, relation::VARCHAR AS relation, tail::VARCHAR AS tail FROM named)"
            f" TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
        )


def _load_parquet(db: duckdb.DuckDBPyConnection, link: Path, shown: str) -> None:
    found = db.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(link)]).fetchall()
    names = [str(row[0]) for row in found]
    columns = read_header([name.encode() for name in names])
    if columns is None and len(names) != 3:
        raise DataError(f"columns {', '.join(names)}: name three of them head, relation and tail", path=shown)
    columns = columns or (0, 1, 2)
    quoted = ['"' + names[column].replace('"', '""') + '"' for column in columns]
    h, r, t = (f"{name}::VARCHAR" for name in quoted)
    db.execute(
        f"""CREATE TEMP TABLE rows AS SELECT file_row_number + 1 AS line, {h} AS h, {r} AS r, {t} AS t
            FROM read_parquet(?, file_row_number = true)""",
        [str(link)],
    )


def _encode(db: duckdb.DuckDBPyConnection, report: ReadReport, line: str | None = None) -> Table:
    db.execute(NAMES.format(table="entities", source="SELECT h AS name FROM raw UNION SELECT t FROM raw"))
    db.execute(NAMES.format(table="relations", source="SELECT DISTINCT r AS name FROM raw"))
    encode = ENCODE.format(line=f", {line} AS line") + f" ORDER BY {line}" if line else ENCODE.format(line="")
    rows = db.execute(encode).fetchnumpy()
    ids = np.stack([rows["h"], rows["r"], rows["t"]], axis=1).astype(np.int32, copy=False)
    lines = np.asarray(rows["line"], dtype=np.int64) if line else None
    return Table(_names(db, "entities"), _names(db, "relations"), ids, report, lines)


def _has_long_line(db: duckdb.DuckDBPyConnection, table: Table, max_line: int) -> bool:
    at_most = 2 * max(map(len, table.entities)) + max(map(len, table.relations)) + 2
    if 4 * at_most <= max_line:  # a character has at most four bytes
        return False
    longest = db.execute("SELECT max(strlen(h) + strlen(r) + strlen(t)) + 2 FROM raw").fetchall()[0][0]
    return bool(longest > max_line)


def _names(db: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    column = db.execute(f"SELECT name FROM {table} ORDER BY id").fetchnumpy()["name"]
    names: list[str] = np.asarray(column, dtype=object).tolist()
    return names


def _why_rejected(cells: list[str | None]) -> str:
    role = next(role for role, cell in zip(ROLES, cells, strict=True) if not cell)
    return f"the {role} is empty"

"""The directory of a sweep: sweep.json says which sweep it is, parts/ has a Parquet file of each shard that is done.

    sweep.json      scene, values, options, versions
    parts/          00000.parquet, ..., each of one shard, written beside its place and renamed
    table.parquet   all rows, when all are there
    index.html      the page, with plots
"""

import json
import os
from pathlib import Path

from pbd.core.extras import load_extra
from pbd.core.files import naming, replacing

SWEEP, PARTS, TABLE = "sweep.json", "parts", "table.parquet"


class SweepDirectory:
    """The files of a sweep.

    Args:
        path: of the directory, which is made if there is none.
        plan: a SweepPlan.
        resume: whether to go on with the sweep that the directory holds; without one there it begins.

    Attributes: path, parts: Paths; done: indices of the shards that are done.

    Raises: FileExistsError if the directory holds another sweep, this one without `resume`, or other files;
        NotADirectoryError; PermissionError.
    """

    def __init__(self, path, plan, resume=False):
        self.path, self.plan = Path(path), plan
        self.parts, self.about = self.path / PARTS, self.path / SWEEP
        there = next(each for each in (self.path.absolute(), *self.path.absolute().parents) if each.exists())
        if not there.is_dir():
            raise NotADirectoryError(f"{path}: {there} is a file, not a directory")
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(f"{path}: the directory {there} is not writable")
        if self.about.is_file():
            self._check(resume)
        elif self.path.is_dir() and any(self.path.iterdir()):
            raise FileExistsError(f"{path}: the directory is not empty, and holds no sweep: expected another --out")
        found = sorted(self.parts.glob("[0-9]*.parquet"))
        self.done = {int(part.stem) for part in found if part.stem.isdigit() and int(part.stem) < plan.shards}

    def _check(self, resume):
        """Raise FileExistsError unless the directory holds this sweep, and `resume` is given."""
        try:
            found = json.loads(self.about.read_text("utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise FileExistsError(f"{self.about}: not a file of a sweep: expected another --out")
        own = self._description()
        different = [name for name in own if found.get(name) != own[name]]
        if different:
            other = f"{self.path} holds another sweep, with other {', '.join(different)}"
            raise FileExistsError(f"{other}: expected another --out")
        if not resume:
            raise FileExistsError(f"{self.path} holds this sweep already: expected --resume, or another --out")

    def _description(self):
        """The plan's description, as a file gives it back."""
        return json.loads(json.dumps(self.plan.description()))

    def begin(self):
        """Make the directory, and say which sweep it holds."""
        with naming(self.path):
            self.parts.mkdir(parents=True, exist_ok=True)
        if not self.about.is_file():
            with replacing(self.about) as partial:
                partial.write_text(json.dumps(self._description(), indent=1, ensure_ascii=False) + "\n", "utf-8")

    def write_part(self, shard, rows):
        """Write the rows of a shard. Args: shard: index; rows: of its runs, dicts."""
        pyarrow, parquet = load_extra("pyarrow", "sweep"), load_extra("pyarrow.parquet", "sweep")
        chosen = [run.columns() for run in self.plan.runs_of(shard)]
        rows = [{**columns, **row} for columns, row in zip(chosen, rows, strict=True)]
        names = dict.fromkeys(name for row in rows for name in row)
        table = pyarrow.Table.from_pylist([{name: row.get(name) for name in names} for row in rows])
        with replacing(self.parts / f"{shard:05d}.parquet") as partial:
            parquet.write_table(table, partial)
        self.done.add(shard)

    def table(self):
        """All rows that are there, by run. Returns: a pyarrow.Table. Raises: OSError; ValueError for a broken part."""
        pyarrow, parquet = load_extra("pyarrow", "sweep"), load_extra("pyarrow.parquet", "sweep")
        tables = []
        for shard in sorted(self.done):
            path = self.parts / f"{shard:05d}.parquet"
            try:
                tables.append(parquet.read_table(path))
            except pyarrow.ArrowInvalid as error:
                raise ValueError(f"{path}: not a part of a sweep: remove it and --resume ({error})") from None
        table = pyarrow.concat_tables(tables, promote_options="permissive")
        last = [name for name in ("digest", "failure") if name in table.column_names]
        return table.select([*(name for name in table.column_names if name not in last), *last])

    def finish(self):
        """Write table.parquet. Returns: the table."""
        table = self.table()
        with replacing(self.path / TABLE) as partial:
            load_extra("pyarrow.parquet", "sweep").write_table(table, partial)
        return table

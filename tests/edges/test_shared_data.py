"""Published figures of real files, where these stand beside the project."""

from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from discreet.flows import assess as module

assess = partial(module.assess, models="sample_frequency")
FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="no shared data beside the project")


def test_francdat(tmp_path):
    """Sample and population counts of the eight records (R sdcMicro)."""
    keys = ["Key1", "Key2", "Key3", "Key4"]
    assess(FOLDER / "francdat.csv", keys, weight="w", risks=tmp_path / "r.parquet")
    found = pq.read_table(tmp_path / "r.parquet").to_pydict()
    assert found["sample_count"] == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found["weight_total"] == [110, 84.5, 84.5, 17, 541, 8, 5, 110]


def test_eusilc():
    """Records that break 2-, 3- and 5-anonymity (R laeken)."""
    keys = ["db040", "hsize", "rb090", "age", "pb220a"]
    found = assess(FOLDER / "eusilc_sample_keys.csv", keys, weight="rb050", missing="category")
    assert found.summary.sample_size == 14_827
    assert [a.records for a in found.anonymity] == [2042, 4256, 8190]


def test_adult(tmp_path):
    """Cells, share of uniques and mean risk (ARX)."""
    path = FOLDER / "arx_adult.csv"
    names = path.read_text().splitlines()[0].split(";")
    found = assess(path, names, risks=tmp_path / "r.parquet")
    n = found.summary.sample_size
    assert n == 30_162
    assert found.size_indices.n_cells == 19_502
    assert found.size_indices.n_cells / n == pytest.approx(0.6465751607983555, rel=1e-15)
    assert found.sample_uniques / n == pytest.approx(0.5142895033485844, rel=1e-15)
    risks = pq.read_table(tmp_path / "r.parquet")["sample_frequency_match_probability"]
    assert sum(risks.to_pylist()) / n == pytest.approx(0.6465751607983555, rel=1e-12)

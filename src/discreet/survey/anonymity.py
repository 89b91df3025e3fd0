"""k-anonymity: who shares their key combination with fewer than k − 1 others."""

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.data.summary import SizeIndices
from discreet.errors import InputError, must_be


@dataclass(frozen=True, slots=True, kw_only=True)
class Anonymity:
    """Records and cells that break k-anonymity: cells with fewer than k records."""

    k: int
    records: int
    cells: int
    record_share: float


def anonymity(size_indices: SizeIndices, k: int) -> Anonymity:
    """Records and cells in which fewer than k records share the key combination. Exact."""
    if k < 2:
        raise InputError(must_be("k", "at least 2", k))
    records = size_indices.records_below(k)
    return Anonymity(
        k=k,
        records=records,
        cells=size_indices.cells_below(k),
        record_share=records / size_indices.sample_size,
    )


def anonymity_curve(size_indices: SizeIndices, ks: Sequence[int]) -> tuple[Anonymity, ...]:
    """The same for several k, ascending, each once."""
    return tuple(anonymity(size_indices, k) for k in sorted(set(ks)))

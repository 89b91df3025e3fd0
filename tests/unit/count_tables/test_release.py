"""What goes out, and what an intruder makes of each format."""

import pytest

from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.release import attack, release_of
from discreet.count_tables.statistics import CountStatistics

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))
STATISTICS = CountStatistics.of_counts(DISASTERS)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, ("n = 51", "S1 = 61", "e^S2 = 2^20*3^7")),
        ({"withhold_n": True}, ("S1 = 61", "e^S2 = 2^20*3^7")),
        (
            {"decimals": 2},
            ("n = 51", "S1 = 61", "S2 = 21.55 (rounded to 2 decimals)"),
        ),
        (
            {"decimals": 0, "truncate": True},
            ("n = 51", "S1 = 61", "S2 = 21 (truncated to 0 decimals)"),
        ),
    ],
)
def test_lines(options, lines):
    release = release_of(STATISTICS, **options)
    assert release.lines() == lines
    assert release.is_exact == ("decimals" not in options)


def test_words():
    assert release_of(STATISTICS).words == "n, S1 and the exact factorisation of e^S2"
    got = release_of(STATISTICS, decimals=3, truncate=True, withhold_n=True).words
    assert got == "n withheld, S1 and S2 truncated to 3 decimals"


def test_attacks_on_each_format():
    assert attack(release_of(STATISTICS), truth=DISASTERS).count.value == 7
    assert attack(release_of(STATISTICS, decimals=1)).count == 41
    held = attack(release_of(STATISTICS, withhold_n=True), Knowledge(n=(45, 60)))
    assert held.count.value == 112  # seven tables for each of sixteen n
    both = attack(release_of(STATISTICS, decimals=1, withhold_n=True))
    assert both.zeros_unknown
    assert both.count == 41  # one for each with n: zeros do not add to S1 and S2

"""--sheet: an Excel file in every command that reads one."""

import json

import openpyxl
import pytest
from click.testing import CliRunner

from discreet.cli import cli

ROWS = [
    ["sex", "age", "visits"],
    *([s, a, v] for s in "mf" for a in (1, 2, 3) for v in (0, 1, 1, 2)),
]
COMMANDS = {
    "assess": "--keys sex,age",
    "audit": "--variables sex,age --release sex",
    "choose": "--variables sex,age --max-risk 1 --masks margins --seed 1",
    "counts": "--column visits",
}


@pytest.fixture
def book(tmp_path):
    made = openpyxl.Workbook()
    made.active.append(["nothing"])
    sheet = made.create_sheet("People")
    for row in ROWS:
        sheet.append(row)
    made.save(tmp_path / "book.xlsx")
    (tmp_path / "book.csv").write_text("\n".join(",".join(map(str, row)) for row in ROWS) + "\n")
    return tmp_path


def run(*given):
    return CliRunner().invoke(cli, [*given], standalone_mode=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_sheet_is_read_like_the_same_csv_file(book, name):
    options = [*COMMANDS[name].split(), "--json"]
    excel = run(name, str(book / "book.xlsx"), "--sheet", "People", *options)
    csv = run(name, str(book / "book.csv"), *options)
    assert excel.exception is None, excel.exception
    found, wanted = json.loads(excel.stdout), json.loads(csv.stdout)
    for one in (found, wanted):
        one.pop("settings", None)
        one.get("search", {}).pop("seconds", None)
    assert found == wanted


@pytest.mark.parametrize("name", COMMANDS)
def test_a_sheet_of_no_workbook_is_refused(book, name):
    ran = run(name, str(book / "book.csv"), "--sheet", "People", *COMMANDS[name].split())
    assert "must be given with an Excel file, got 'book.csv'" in str(ran.exception)

"""discreet policies [show NAME|FILE | check FILE | judge RESULT.json --policy NAME | new]"""

from functools import partial
from pathlib import Path

import click

from discreet.cli.exit_codes import leave_with
from discreet.cli.grouped import OUTPUT, Command, option
from discreet.cli.option_names import speaking_of
from discreet.cli.options import policy_option
from discreet.errors import must_be

JSON_HELP = "Print one JSON object on stdout."


@click.group(name="policies", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """What "safe" means, as named rules: the policies that come with Discreet.

    Without a command they are listed. A policy is used with --policy NAME|FILE in the commands that
    judge (docs/guide/policies.md); each rule has its section in docs/guide/rules.md.
    """
    if context.invoked_subcommand is not None:
        if as_json:
            raise click.UsageError(must_be("--json", "given after the command", "it before"))
        return
    from discreet.cli.show import show
    from discreet.flows.policies import policies
    from discreet.report.policies import policies_document, policies_json

    found = policies()
    show(partial(policies_document, found), partial(policies_json, found), as_json=as_json)


@command.command(name="show", cls=Command, short_help="All of one policy.")
@click.argument("policy", metavar="NAME|FILE")
@option(OUTPUT, "--json", "as_json", is_flag=True, help=JSON_HELP)
def show_one(policy: str, as_json: bool) -> None:
    """All of one policy: its rules, what is not judged, and how it is used."""
    from discreet.cli.show import show
    from discreet.flows.policies import read_policy
    from discreet.report.policies import policy_document, policy_json

    found = read_policy(policy)
    show(
        partial(policy_document, found, policy),
        partial(policy_json, found, policy),
        as_json=as_json,
    )


@command.command(name="check", cls=Command, short_help="Is a file a policy, and what does it say?")
@click.argument("file", metavar="FILE")
@option(OUTPUT, "--json", "as_json", is_flag=True, help=JSON_HELP)
def check(file: str, as_json: bool) -> None:
    """Whether FILE is a policy, and what it says; exit 2 with the line where it is none."""
    from discreet.cli.show import show
    from discreet.flows.policies import check_masks
    from discreet.policy.reading import read_policy
    from discreet.report.policies import policy_document, policy_json

    found = read_policy(file)
    check_masks([found])
    title = f"{Path(file).name} is fine: policy {found.name}"
    show(
        partial(policy_document, found, file, title=title),
        partial(policy_json, found, file),
        as_json=as_json,
    )


@command.command(name="judge", cls=Command, short_help="Judge a finished result once more.")
@click.argument("result", metavar="RESULT.json")
@policy_option
@option(OUTPUT, "--json", "as_json", is_flag=True, help=JSON_HELP)
def judge_one(result: str, policy: tuple[str, ...], as_json: bool) -> None:
    """What policies say of RESULT.json, which assess, audit or counts printed with --json.

    The exit code is that of the command itself: 3 where a rule is broken, 4 where one is undecided,
    as are those whose figure was not measured.
    """
    from discreet.cli.show import show
    from discreet.flows.judge import judge
    from discreet.report.policies import judged_document, judged_json
    from discreet.report.reading import read_result

    if not policy:
        raise click.UsageError(must_be("--policy", "given", "none"))
    with speaking_of({"source": Path(result).name}):
        verdict = judge(read_result(Path(result)), policy)
    name = Path(result).name
    show(
        partial(judged_document, name, verdict),
        partial(judged_json, name, verdict),
        as_json=as_json,
        full=True,
    )
    leave_with(verdict)


@command.command(name="new", cls=Command, short_help="Write a policy of your own.")
@option(
    OUTPUT, "--write", metavar="FILE.toml",
    help="Write it to this new file [default: print it].",
)  # fmt: skip
@option(OUTPUT, "--json", "as_json", is_flag=True, hidden=True)
def new(write: str | None, as_json: bool) -> None:
    """Write a policy of your own: a few questions, and a file that --policy takes.

    Enter takes the answer in brackets, or leaves out the rule.
    """
    from discreet.cli.policy_questions import asked_policy, check_new_file, write_new
    from discreet.policy.reading import policy_text

    if as_json:
        rule = "left out with `policies new`, which asks questions"
        raise click.UsageError(must_be("--json", rule, "it"))
    path = None if write is None else Path(write)
    if path is not None:
        check_new_file(path)
    text = policy_text(asked_policy("" if path is None else path.stem))
    if path is None:
        click.echo(text, nl=False)
    else:
        write_new(path, text)

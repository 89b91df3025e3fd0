"""A run on a small cluster of processes, one of which is killed while it works.

`python spark_killed.py FILE OUT STEP`: assess FILE, write the records to OUT, and kill an executor
when STEP begins. Prints how many were killed and the sample uniques.
"""

import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

KEYS = ["a", "b", "c", "d"]


def below(pid):
    """All processes that a process has started, and those that they have."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        own = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return own + [found for child in own for found in below(child)]


def executors():
    """The executors among our own children."""
    found = []
    for pid in below(os.getpid()):
        try:
            if "CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_text():
                found.append(pid)
        except OSError:
            continue
    return found


def main(file, out, step):
    """Run, kill, and tell."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    import discreet

    session = (
        SparkSession.builder.master("local-cluster[2,1,2048]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.executor.memory", "1g")
        .getOrCreate()
    )
    killed = []

    def told(name, fraction):
        if name == step and not killed:
            killed.extend(executors()[:1])
            threading.Thread(target=kill, args=killed[:1]).start()

    def kill(pid):
        time.sleep(0.3)
        os.kill(pid, signal.SIGKILL)

    engine = discreet.SparkEngine(session=session, most_near=0, progress=told)
    found = discreet.assess(
        file, KEYS, population=10**7, engine=engine, risks=out, max_risk=1, progress=told
    )
    print(len(killed), found.sample_uniques)
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

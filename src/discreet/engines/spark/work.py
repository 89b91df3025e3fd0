"""Spark jobs one at a time, which tell what they do and stop when the user says so."""

import shutil
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from discreet.progress import Progress

POLL_SECONDS = 0.1
Answer = TypeVar("Answer")


class Work:
    """A session, the folder for what is written on the way, and whoever listens."""

    def __init__(self, spark: Any, folder: Path, progress: Progress) -> None:
        self.spark = spark
        self.folder = folder
        self.progress = progress
        self.names = 0

    def new_folder(self, stem: str) -> Path:
        """A folder that is not there yet."""
        self.names += 1
        return self.folder / f"{stem}_{self.names}"

    def run(self, step: str, action: Callable[[], Answer]) -> Answer:
        """What the action returns, run in a thread of its own so that Ctrl-C is heard."""
        answers: list[Answer] = []
        failures: list[BaseException] = []
        done = threading.Event()
        tag = f"discreet-{uuid4().hex}"

        def work() -> None:
            try:
                self.spark.addTag(tag)
                answers.append(action())
                self.spark.removeTag(tag)
            except BaseException as error:
                failures.append(error)
            finally:
                done.set()

        try:
            threading.Thread(target=work, name="discreet-spark").start()
            while not done.wait(POLL_SECONDS):
                self.progress(step, None)
        except BaseException:
            while not done.wait(POLL_SECONDS):
                self.spark.interruptTag(tag)
            raise
        if failures:
            raise failures[0]
        return answers[0]

    def frame_of(self, table: Any) -> Any:
        """A frame of a small table of Arrow."""
        with without_warnings():
            return self.spark.createDataFrame(table)

    def written(self, step: str, frame: Any, stem: str) -> Any:
        """The frame, computed and written as Parquet, to be read any number of times."""
        return self.spark.read.parquet(as_url(self.write(step, frame, stem)))

    def write(self, step: str, frame: Any, stem: str) -> Path:
        """The folder into which the frame was computed and written as Parquet."""
        folder = self.new_folder(stem)
        self.run(step, lambda: frame.write.parquet(as_url(folder)))
        return folder

    def remove(self, folder: Path) -> None:
        """Free the space of what is needed no more."""
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def without_warnings() -> Iterator[None]:
    """No word about versions of pandas, which is not used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def mapped(frame: Any, function: Callable[[Any], Any], schema: Any) -> Any:
    """The rows as the function makes them of Arrow batches, partition by partition."""
    with without_warnings():
        return frame.mapInArrow(function, schema)


def as_url(path: Path) -> str:
    """A path as Spark reads it, whatever its default file system, no character of it a pattern."""
    escaped = "".join(f"\\{c}" if c in "*?[]{}\\" else c for c in str(path.absolute()))
    return f"file://{escaped}"

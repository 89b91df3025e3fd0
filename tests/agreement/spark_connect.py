"""A run with a session of Spark Connect, whose server is started for it.

`python spark_connect.py FILE`: assess FILE with its cells left on Spark, and print the JSON.
"""

import json
import os
import sys
import warnings


def main(file):
    """Run and tell."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    import discreet

    session = (
        SparkSession.builder.remote("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    engine = discreet.SparkEngine(session=session, most_near=0)
    found = discreet.assess(file, ["a", "b", "c", "d"], weight="w", max_risk=1, engine=engine)
    print(json.dumps(found.to_json()))
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

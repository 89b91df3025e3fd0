"""Cells by Spark, for files that one machine cannot count; the same cells as DuckDB's."""

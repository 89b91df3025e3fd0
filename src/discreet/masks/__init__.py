"""What could go out instead of the table: margins, rounding, suppression, perturbation, statistics.

Every mask gives a `Masked` (contract.py): what is published, what an intruder then knows for
certain, and how probable the publication was under every table he still holds possible.
"""

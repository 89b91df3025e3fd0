"""Side-by-side timings, printed as ratios: `python -m benchmarks`, or `make bench`.

Every contestant runs in a process of its own, one after the other in the same run, so that a noisy
machine troubles all of them alike. Times are wall and CPU seconds; memory is the peak of the
process.
"""

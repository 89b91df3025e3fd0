"""The count policy: the COM-Poisson distribution, its sufficient statistics, what users learn."""

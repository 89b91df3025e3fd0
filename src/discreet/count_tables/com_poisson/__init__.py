"""The COM-Poisson distribution, and what can be fitted from its sufficient statistics."""

"""Tables drawn from all that are consistent with what is out."""

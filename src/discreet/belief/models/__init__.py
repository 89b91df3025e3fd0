"""Log-linear models of a table: generators, fits, and how much the release speaks for each."""

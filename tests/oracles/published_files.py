"""Published tables as plain mappings, to compare with."""


def figures(table):
    """What stands for each combination of labels: the figure, or the mark in angle brackets."""
    found = {}
    for place, codes in enumerate(table.places.tolist()):
        labels = tuple(table.labels[i][code] for i, code in enumerate(codes))
        found[labels] = table.printed[place] or f"⟨{table.marks.get(place, '')}⟩"
    return found

"""What each figure means, in a sentence for a steward who is no statistician."""

MEANING = {
    "sample_uniques": (
        "A record that is alone in its combination of keys is the first that an intruder looks at: "
        "whoever knows these facts about a person, and that the person is in the file, has found "
        "the record. It need not be unique in the population."
    ),
    "anonymity": (
        "A record breaks k-anonymity when fewer than k records of the file share its combination "
        "of keys."
    ),
    "overlap": (
        "Here a missing value matches other values, so records match others than those of their "
        "combination. What is compared with k is the count of all matches, the record itself among "
        "them."
    ),
    "overlap_in_part": (
        "A match that needs a missing value counts in part, so the count may lie between 1 and 2."
    ),
    "comparison": (
        "Alone: no other record counts as a match. Break k: the count of matches, the record "
        "itself among them, is below k."
    ),
    "recommended_compared": (
        "The recommended estimate, with 90 % limits. Where a missing value matches anything, a "
        "record is alone in the population when nobody else agrees on the keys that it has."
    ),
    "recommended_counted": (
        "Counted, since the file is everybody. Where a missing value matches anything, a record is "
        "alone when nobody else agrees on the keys that it has."
    ),
    "models_compared": "What the model says of the file under each policy.",
    "sensitive_compared": "Records that break each rule.",
    "size_indices": (
        "How many combinations have exactly one record, two, three, and so on. A long flat tail to "
        "the right is reassuring; many combinations of one record are not."
    ),
    "distribution": (
        "For each record, the chance that an intruder who matches it with somebody finds the right "
        "person. The columns count records; those on the right need protection first. Each holds "
        "its upper limit and not its lower one, but for the lowest of all, which also holds 0."
    ),
    "contributions": (
        "Uniques that vanish when a key is dropped: where coarser categories help most."
    ),
    "riskiest": (
        "The combinations with the highest risk, then those with the fewest records and the rarest "
        "levels. Rows count from 1, in the order of the file. Expected is the number of records "
        "that would be there if the keys had nothing to do with each other."
    ),
    "expected_population_uniques": (
        "How many of the records that are alone in the file are also alone in the population: each "
        "is recognised with certainty by anyone who knows the keys."
    ),
    "expected_correct_matches": (
        "How many records an intruder would match to the right person by trying every record once."
    ),
    "population": (
        "With everyone in a file there is nothing to estimate. The prosecutor knows that a person "
        "is in the sample, the journalist does not, the marketer matches everyone at once."
    ),
    "scenarios": (
        "Different intruders know different things. Alone and break count records of the file; the "
        "last two columns are the recommended estimate with these keys. The file of records holds "
        "the risk in each scenario."
    ),
    "scenarios_counted": (
        "Different intruders know different things. All of this was counted, since the file is "
        "everybody. The file of records holds the risk in each scenario."
    ),
    "subsets": (
        "How few facts are enough to make somebody unique: for each number of keys, the set that "
        "makes most records unique."
    ),
    "sensitive": (
        "Whoever knows the key combination of a person also learns something about this variable. "
        "The worst value is over all combinations; the counts are those that break the rule. Only "
        "thresholds that were given count in a verdict; the others are usual values."
    ),
    "households": (
        "A household is found when one of its members is: 1 − ∏ (1 − risk of each member). Its "
        "members together may also be a pattern that no other household has."
    ),
    "suda": (
        "A record is special when few of its facts already make it unique. The score counts the "
        "smallest sets of keys that do, the smaller the set the more."
    ),
    "shrinkage": (
        "Expected population uniques when a share λ of the association of each two keys is taken: "
        "0 is independence, 1 takes it in full. A large sum of negatives tells of a bad fit."
    ),
    "bayes_test": (
        "Sample uniques that a Bayes test calls population uniques when missing one costs so many "
        "times as much as a false alarm. Models that treat all of them alike call all or none."
    ),
    "models": (
        "sample_frequency gives exact figures and proven bounds; the others are estimates, whose "
        "95 % limits hold if the model does. --report and --json say what each assumes."
    ),
    "exact": "computed from the data without approximation, given the stated assumption",
    "certified bound": "the truth lies between these limits for certain",
    "estimate": "a model's best guess; the limits are at 95 % confidence, if the model holds",
}

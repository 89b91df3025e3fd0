"""The levels of the ten key variables of the synthetic population.

The variables and their numbers of levels are those of the census example of takemura section 3
(14 · 2 · 91 · 5 · 14 · 7 · 2 · 5 · 2 · 10 = 249,704,000 possible cells); the wording is our own.
"""

TOP_AGE = 90  # this level means 90 and over

KEY_LABELS: dict[str, tuple[str, ...]] = {
    # in this order the persons of a household are listed
    "relationship": (
        *("Householder", "Spouse", "Child", "Stepchild", "Grandchild", "Parent"),
        *("Brother or sister", "Other relative", "Foster child", "Unmarried partner", "Housemate"),
        *("Roomer or boarder", "Resident of an institution", "Resident of other group quarters"),
    ),
    "sex": ("Male", "Female"),
    "age": (*(str(age) for age in range(TOP_AGE)), f"{TOP_AGE} and over"),
    "marital_status": ("Never married", "Married", "Separated", "Divorced", "Widowed"),
    "birthplace": (
        *("Home region", "Neighbouring region", "Inland regions", "Southern regions"),
        *("Eastern regions", "Island territories", "Northern neighbour country", "Latin America"),
        *("Western Europe", "Eastern Europe", "East Asia", "South and West Asia", "Africa"),
        "Oceania or at sea",
    ),
    "spouse_status": (
        *("Under 15 years", "Married, spouse present", "Married, spouse absent", "Widowed"),
        *("Divorced", "Separated", "Never married"),
    ),
    "own_child": ("No own child present", "Own child present"),
    # adults count only where no minor is
    "own_child_age": (
        *("No own child", "Under 6 only", "6 to 17 only", "Under 6 and 6 to 17"),
        "18 and over only",
    ),
    # another relative under 18, not householder or spouse, in the same family
    "related_child": ("No related child present", "Related child present"),
    "household_type": (
        *("Person alone", "Married couple, no child under 18", "Married couple, child under 18"),
        *("Lone father", "Lone mother", "Unmarried couple, no child", "Unmarried couple, child"),
        *("Several generations", "Other persons sharing", "Group quarters"),
    ),
}
HEAD, SPOUSE, CHILD, STEPCHILD, GRANDCHILD, PARENT, SIBLING, OTHER_RELATIVE = range(8)
FOSTER_CHILD, PARTNER, HOUSEMATE, BOARDER, INSTITUTION, QUARTERS = range(8, 14)
MALE, FEMALE = range(2)
NEVER_MARRIED, MARRIED = range(2)
SPOUSE_PRESENT = 1
LONE_FATHER, LONE_MOTHER, SEVERAL_GENERATIONS, GROUP_QUARTERS = 3, 4, 7, 9

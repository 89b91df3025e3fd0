"""What should go out: users, utility, the choice, the best set of tables."""

"""Special uniques (SUDA): records that stand out on few keys."""

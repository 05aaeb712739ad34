"""JavaScript of people, evaluated where it reaches nothing."""

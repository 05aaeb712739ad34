"""What runs an agent: programs, models, scripts, people, all behind one small contract."""

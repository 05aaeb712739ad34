"""What `moot doctor` looks at, one module for each place to look. Looking creates and changes nothing."""

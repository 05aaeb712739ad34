"""From the text of workflow files to a definition, with everything that is wrong told by its place."""

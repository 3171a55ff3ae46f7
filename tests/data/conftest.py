"""The test modules below this folder belong to small projects that tests copy and run; none is collected here."""

collect_ignore_glob = ["*"]

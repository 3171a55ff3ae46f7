"""The tables of studies, as figures."""

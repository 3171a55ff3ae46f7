"""The worst case, and the smallest edit that breaks a prompt."""

"""Sentences, made from the codes and figures that decisions return."""

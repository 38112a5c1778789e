"""Everything on one machine: the command line, the local cloud, in-process play, and competitions.

This is the only package that depends on all others. It connects them and is what people use; rules, metrics and models
belong in the packages that it calls.
"""

"""Runs everything on one machine: the command line, the local cloud, the embedded store, whole competitions.

This is the only room that knows all others. It wires them together and talks to people; rules, arithmetic and models
belong to the rooms it calls.
"""

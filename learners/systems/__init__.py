"""The registry: every system that can be played, under its name on the leaderboard.

One module for each family of systems states them, each once; ``registry`` lists them all. Names in capitals are those
of Sokolov et al. 2017 (sections 4 and 5, Table 3) unless the system's origin says that it is ours.
"""

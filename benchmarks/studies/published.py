"""What Sokolov et al. 2017 published of the competition: the cumulative rewards of Table 3."""

from task.phases import TRAINING

TRAINING_ROUNDS = TRAINING.layout.total

# Over the whole training phase, in the order of the table, which lists only systems that finished it.
TABLE_3 = {
    "copy-source": 64_481.8,
    "SMT-oracle": 499_578.0,
    "SMT-static": 229_621.7,
    "SMT-EL-CV-ADADELTA": 214_398.8,
    "SMT-EL-CV-ADAM": 225_535.3,
    "SMT-SZO-CV-ADAM": 208_464.7,
    "BNMT-oracle": 780_580.4,
    "BNMT-static": 222_066.0,
    "WMT16-static": 139_668.1,
    "BNMT-EL-CV": 212_703.2,
    "BNMT-EL": 237_663.0,
    "WNMT-EL": 115_098.0,
    "UMD-domain-adaptation": 248_333.2,
}
MEAN_REWARDS = {system: reward / TRAINING_ROUNDS for system, reward in TABLE_3.items()}

# In Figure 1 or in the text, but not in Table 3: these runs did not finish.
UNFINISHED = ("UMD-reinforce", "UMD-reinforce2", "LIMSI-UCB1", "LIMSI-UCB1-SAMPLING", "LIMSI-UCB1-SELECT")

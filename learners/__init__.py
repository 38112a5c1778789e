"""Systems that translate and learn from one number per sentence.

Here live the learner's contract, the loop of Algorithm 1, the registry of systems under their published names, and the
models behind them. A learner meets the task only through a client with the SDK's interface: nothing here touches
storage, references or the service's insides.
"""

"""Domain adaptation by data selection: train further on the out-of-domain pairs that resemble the text to translate.

``cross_entropy`` scores sentences, ``selection`` chooses pairs by these scores, and ``online`` goes on choosing while
it plays. No reward and no reference takes part in any of it: only sources that were served.
"""

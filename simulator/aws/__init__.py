"""Calls of the real AWS on behalf of an organiser, for what a deployment cannot set up by itself.

``usage_plan`` registers participants' keys with API Gateway. The local cloud, which needs no AWS, is in
``simulator.cloud``.
"""

"""The local cloud: plays what AWS would do with ``template.yaml`` on one machine.

``template`` reads the template with AWS's own translator, ``gateway`` does what API Gateway does between a request and
a function, ``server`` speaks HTTP, and ``openapi`` writes the API down. What the functions do is in ``lambdas``.
"""

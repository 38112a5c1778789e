"""The local cloud: does on one machine what AWS does with ``template.yaml``.

``template`` reads the template with AWS's own translator. ``gateway`` does what API Gateway does between a request and
a function. ``http_server`` serves HTTP, ``local_cloud`` assembles all of it, and ``openapi`` documents the API. The
functions themselves are in ``lambdas``; calls of the real AWS are in ``simulator.aws``.
"""

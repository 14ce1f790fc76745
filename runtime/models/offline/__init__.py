"""The offline planner: a chat model that needs no network, no key and no weights.

It decides by the situation alone (``runtime.models.situation``) and follows the skills themselves.
"""

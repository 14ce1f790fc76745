"""Scenarios: what a caller does in a call, and what must then have happened.

``reader`` reads ``scenarios/*.yml`` into ``model``; ``caller`` and ``words`` turn the caller's
lines into sound and into what is understood of it; ``player`` makes the call in virtual time;
``evidence``
is what the call left behind, ``checks`` compares it with what was expected; ``report`` writes that
down. Which engines and which agent take part is composed by ``voice.cli.scenario_call``.
"""

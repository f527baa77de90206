"""Python runs this before the service (see `hasty.py`): the same service, which waits for tenths of its seconds."""

from dataclasses import replace

from antidrift.domain import asking, limits

limits.INTERRUPT_AFTER_SECS = 0.4
limits.INTERRUPT_EVERY_SECS = 0.0
for role, rule in asking.RULES.items():
    asking.RULES[role] = replace(rule, debounce=min(rule.debounce, 0.2))

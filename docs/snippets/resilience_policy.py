"""What each situation asks for."""

from hyperpod_constructs import ResiliencePolicy

with_spares = ResiliencePolicy(spare_nodes=1)
checked_once = ResiliencePolicy(replacement_wait="avoid")
checked_once_and_commissioned = ResiliencePolicy(replacement_wait="avoid", commissioned=True)
unchecked = ResiliencePolicy(replacement_wait="intolerable")

for policy in (with_spares, checked_once, checked_once_and_commissioned, unchecked):
    print(policy.deep_health_checks, policy.consequence)

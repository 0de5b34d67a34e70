"""Other ways to write a template that mean the same."""

from __future__ import annotations

from spellings import names, networks, policies, values
from spellings.walking import Spelling

SPELLINGS: tuple[Spelling, ...] = (
    values.lists_of_one_as_scalars,
    values.scalars_as_lists_of_one,
    values.one_statement_without_list,
    values.joins_as_subs,
    values.attributes_as_text,
    values.group_ids_by_ref,
    values.references_through_subs,
    values.what_is_under_a_condition_that_holds,
    values.what_is_either_way_in_an_if,
    values.numbers_and_booleans_as_text,
    values.values_in_parameters,
    policies.actions_in_other_cases,
    policies.everything_in_reverse,
    policies.statements_split_by_action,
    policies.statements_split_by_resource,
    policies.arns_by_like,
    policies.arns_by_strings,
    policies.arns_by_string_patterns,
    policies.condition_keys_in_other_cases,
    policies.tls_by_a_boolean,
    policies.tls_if_it_exists,
    policies.everybody_as_a_mapping,
    policies.accounts_by_id,
    policies.key_permissions_in_two,
    policies.keys_through_aliases,
    policies.managed_policies_inline,
    policies.locks_of_every_action,
    networks.rules_inline,
    networks.rules_apart,
    networks.port_ranges_in_two,
    networks.protocols_by_number,
    networks.zones_by_name,
    names.other_logical_ids,
    names.no_descriptions,
)
"""Each rewrites a template in place."""

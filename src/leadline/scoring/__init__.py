"""From an answer to a score: matching, outcomes and the policy that joins them. Pure: knows neither models nor runs."""

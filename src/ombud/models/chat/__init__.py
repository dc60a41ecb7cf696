"""Chat models: clients, roles, call policies, budgets."""

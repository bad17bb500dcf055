"""Who may do what: tokens, sessions, origins and proxies."""

"""MongoDB: a store and a coordinator."""

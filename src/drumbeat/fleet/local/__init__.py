"""`LocalFleet`: the fleet's operations over a store, a coordinator and the engine."""

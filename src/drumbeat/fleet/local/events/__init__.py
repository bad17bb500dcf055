"""The stream of events: a watcher finds changes in the store, and a feed publishes them."""

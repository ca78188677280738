"""Problems to and from other libraries. Each of these is needed only by who crosses the bridge to it."""

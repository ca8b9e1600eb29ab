"""A scenario's fabric out of network namespaces, veth pairs and token buckets on one Linux machine."""

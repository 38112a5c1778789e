"""What several benchmarks share: sentences and stores to play on, servers over HTTP, bounds and peak memory."""

"""Documents to chunks: one module a way of cutting."""

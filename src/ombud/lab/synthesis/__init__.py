"""Cases made from passages without a model: proposed by rules, cleaned by checks, sampled by
document size."""

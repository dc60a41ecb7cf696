"""Training of the small reader: MiniLM learns to say of a passage whether it answers a question, and
with which sentences, by labels and by a larger network that has learnt it first. `network`,
`fitting` and `scoring` need torch."""

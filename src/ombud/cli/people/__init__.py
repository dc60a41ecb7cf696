"""Commands about people: who may come in, for whom answers are written, who takes over."""

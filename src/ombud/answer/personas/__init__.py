"""For whom answers are written."""

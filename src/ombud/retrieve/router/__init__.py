"""How many passages settle a question: one, two, or three and more. numpy at question time,
scikit-learn to train."""

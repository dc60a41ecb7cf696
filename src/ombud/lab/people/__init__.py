"""What people say of answers, how far they agree, and how far a judge agrees with them."""

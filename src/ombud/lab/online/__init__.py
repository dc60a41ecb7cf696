"""What people who use the assistant show: variants compared live, runs after every change."""

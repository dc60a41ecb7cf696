"""What an auditor needs: verify, replay, forget, certify."""

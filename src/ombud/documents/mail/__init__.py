"""Mail: messages and their attachments."""

"""What the channels Slack and Microsoft Teams share."""

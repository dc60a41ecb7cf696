"""SharePoint, by Microsoft Graph."""

"""The desk `salesforce`: Messaging for In-App and Web, as a client of its own."""

from ombud.handoff.desks.salesforce.line import SalesforceDesk, SalesforceLine, open_salesforce

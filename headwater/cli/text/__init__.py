"""What people read: one file per thing that is shown. Pure; nothing here asks or prints."""

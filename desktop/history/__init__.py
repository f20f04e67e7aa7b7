"""What is kept of all chats: its form, its file, and how it survives what happens to files."""

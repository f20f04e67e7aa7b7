"""The list of all chats at the side: by date, in folders, found by words, in the archive and in the bin."""

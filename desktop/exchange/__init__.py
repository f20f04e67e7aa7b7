"""Chats out into files that other programs read, and in from files of this and other programs."""

"""Files that go into a message: read, quoted with their names, shown over the field."""

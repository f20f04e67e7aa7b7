"""The page: questions and replies as one long text."""

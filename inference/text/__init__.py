"""Text on its way in and out: chat templates, control tokens, streaming, stop strings, what fits the context."""

"""The window: shows what the engine does and never touches a tensor."""

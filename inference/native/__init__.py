"""Products in C for the CPU, compiled on the user's machine where there is a C compiler."""

"""The contract gate: a guessed call gets the contract, the retry runs."""

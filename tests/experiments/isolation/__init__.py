"""Random transactions and what is concluded from them."""

"""The wire engine: requests that the store's ordinary client made, sent again by a pump with other keys in them."""

"""One variant of a store under test, as the suites use it."""

from storeproof.store_under_test.options import Options
from storeproof.store_under_test.store_under_test import StoreUnderTest

/* Starts what the page has. */

if (byId("filters")) startFilters();
if (byId("sides")) startComparing();
if (byId("searching")) startSearch();

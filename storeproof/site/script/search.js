/* The search over all capabilities: every word, or one that stands for the same, must occur in the name, the title or the group of one. */

function startSearch() {
  const [input, rows] = [byId("search"), [...document.querySelectorAll("#capabilities tbody tr")]];
  const words = rows.map((row) => `${row.dataset.group} ${row.cells[0].textContent}`.toLowerCase());
  const apply = (address) => {
    const wanted = wordsOf(input.value);
    let count = 0;
    rows.forEach((row, at) => {
      row.hidden = !wanted.every((word) => hasWord(words[at], word));
      count += row.hidden ? 0 : 1;
    });
    byId("count").textContent = count ? `${count} of ${rows.length} capabilities` : nothingFound(input.value);
    if (address) history.replaceState(null, "", `#${new URLSearchParams(input.value ? { q: input.value } : {})}`);
  };
  const read = () => {
    input.value = new URLSearchParams(location.hash.slice(1)).get("q") || "";
    apply(false);
  };
  byId("searching").addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", () => apply(true));
  addEventListener("hashchange", () => isState() && read());
  read();
}

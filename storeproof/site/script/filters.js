/* The first screen: its filters, the answer above the table, and the table itself. */

const MOST_SUGGESTED = 8;

function rowsOf(state) {
  return data.variants.filter((row) => state.all || row.own || row.answers || (ofCluster(state.keeps) && row.losses[state.keeps]));
}

function show(state) {
  const asked = conditionsOf(state);
  const unasked = !asked.length;
  const demands = unasked ? data.roles.map(([name]) => roleCondition(name)) : asked;
  const judged = judge(rowsOf(state), demands);
  byId("answer").replaceChildren(...sentence(judged, demands, unasked ? `can fill all ${data.roles.length} roles` : ""));
  const met = fulfilling(judged);
  const chosen = unasked ? judged : met.length ? met : nearest(judged);
  byId("shown").textContent = unasked || met.length ? "" : "No variant fulfils all of it: the table shows those that come nearest.";
  showTable(chosen.map(({ row }) => row), state);
}


function fill(state) {
  document.querySelectorAll("#filters [name=role]").forEach((box) => (box.checked = state.roles.includes(box.value)));
  byId("keeps").value = state.keeps;
  byId("isolation").value = state.isolation;
  byId("at").value = String(state.at);
  byId("p99").value = String(state.p99);
  byId("all").checked = state.all;
  byId("run").value = state.run === null ? "" : data.runs[state.run].id;
  byId("chosen").replaceChildren(
    ...state.must.map((name) => {
      const remove = element("button", { type: "button", "data-remove": name, "aria-label": `Do not demand: ${capabilities.get(name).title}` }, "×");
      return element("li", {}, linked(capabilities.get(name).page, capabilities.get(name).title), " ", remove);
    }),
  );
}

/* Who types `transaction` means the group of that name, and not the first title that has the word; then what begins with it. */
function rank({ name, title }, word, meant) {
  if (name === meant) return -1;
  const group = name.split(".")[0];
  if ([word, `${word}s`].includes(group)) return 0;
  if (title.toLowerCase().startsWith(word)) return 1;
  return `${name} ${title}`.toLowerCase().includes(word) ? 2 : 3;
}

function matches(words, most) {
  const [wanted, meant] = [wordsOf(words), meantBy(words)];
  if (!wanted.length) return [];
  const text = ({ name, title }) => `${name} ${title} ${data.groups[name.split(".")[0]] || ""}`.toLowerCase();
  const found = [...capabilities.values()].filter((each) => each.name === meant || wanted.every((word) => hasWord(text(each), word)));
  return found.sort((one, other) => rank(one, wanted[0], meant) - rank(other, wanted[0], meant)).slice(0, most);
}

function suggest(state) {
  const input = byId("must");
  const found = matches(input.value, MOST_SUGGESTED).filter(({ name }) => !state.must.includes(name));
  const rows = rowsOf(state);
  const offers = found.map(({ name, title }) => {
    const count = rows.filter((row) => SHOWN.has(answerOf(row, name))).length;
    return element("li", {}, element("button", { type: "button", "data-add": name }, title, element("small", {}, `${name} · ${count} of ${rows.length}`)));
  });
  byId("suggested").replaceChildren(...offers);
  byId("found").textContent = input.value && !found.length ? nothingFound(input.value) : "";
}

function startFilters() {
  let state = readState();
  const form = byId("filters");
  const apply = (change, address = true) => {
    state = { ...state, ...change };
    fill(state);
    suggest(state);
    show(state);
    if (address) writeState(state);
  };
  const add = (name) => {
    byId("must").value = "";
    apply({ must: [...state.must, name] });
    byId("must").focus();
  };
  form.addEventListener("change", (event) => {
    if (event.target === byId("must")) return;
    const run = data.runs.findIndex(({ id }) => id === byId("run").value);
    apply({
      roles: [...form.querySelectorAll("[name=role]:checked")].map((box) => box.value),
      keeps: byId("keeps").value,
      isolation: byId("isolation").value,
      at: Number(byId("at").value),
      p99: Number(byId("p99").value),
      all: byId("all").checked,
      run: run < 0 ? data.run : run,
    });
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [first] = matches(byId("must").value, MOST_SUGGESTED).filter(({ name }) => !state.must.includes(name));
    if (first) add(first.name);
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    byId("must").value = "";
    apply(defaults());
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-add], button[data-remove]");
    if (!button) return;
    if (button.dataset.add) add(button.dataset.add);
    else {
      apply({ must: state.must.filter((name) => name !== button.dataset.remove) });
      byId("must").focus();
    }
  });
  byId("must").addEventListener("input", () => suggest(state));
  addEventListener("hashchange", () => isState() && apply(readState(), false));
  startDropping((run) => apply(run === null ? {} : { run }));
  apply({}, false);
}

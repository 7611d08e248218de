/* The filters live in the address, behind the #: it works from disk, and a link to a question is a link to its answer. */

const LIMITS = [0, 1, 2, 5, 10, 20, 50, 100];

function defaults() {
  return { roles: [], keeps: "", isolation: "", must: [], at: data.paced.rates[0] || 0, p99: 0, all: false, run: data.run };
}

function readState() {
  const given = new URLSearchParams(location.hash.slice(1));
  const state = defaults();
  state.roles = data.roles.map(([name]) => name).filter((name) => given.getAll("role").includes(name));
  state.keeps = [...data.faults, ...data.clusters].some(([name]) => name === given.get("keeps")) ? given.get("keeps") : "";
  state.isolation = data.isolation.includes(given.get("isolation")) ? given.get("isolation") : "";
  state.must = [...new Set(given.getAll("must"))].filter((name) => capabilities.has(name));
  if (data.paced.rates.includes(Number(given.get("at")))) state.at = Number(given.get("at"));
  state.p99 = LIMITS.includes(Number(given.get("p99"))) ? Number(given.get("p99")) : 0;
  state.all = given.get("all") === "1";
  const run = data.runs.findIndex(({ id, clients }) => id === given.get("run") && clients);
  if (run >= 0) state.run = run;
  return state;
}

function writeState(state) {
  const words = new URLSearchParams();
  state.roles.forEach((name) => words.append("role", name));
  if (state.keeps) words.append("keeps", state.keeps);
  if (state.isolation) words.append("isolation", state.isolation);
  state.must.forEach((name) => words.append("must", name));
  if (state.p99) {
    words.append("at", state.at);
    words.append("p99", state.p99);
  }
  if (state.all) words.append("all", "1");
  if (state.run !== data.run && state.run !== null) words.append("run", data.runs[state.run].id);
  history.replaceState(null, "", `#${words}`);
}

/* Whether the address has filters, and not the anchor of a place on the page. */
function isState() {
  return location.hash.length < 2 || location.hash.includes("=");
}

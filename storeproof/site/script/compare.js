/* Two variants side by side. The address carries both. */

function comparedState() {
  const given = new URLSearchParams(location.hash.slice(1));
  const at = (name, other) => {
    const found = data.variants.findIndex((row) => `${row.store}:${row.variant}` === given.get(name));
    return found >= 0 ? found : Math.min(other, data.variants.length - 1);
  };
  return { a: at("a", 0), b: at("b", 1) };
}

function fact(label, ...cells) {
  return element("tr", {}, element("th", { scope: "row" }, label), ...cells);
}

function plainCell(text) {
  return element("td", {}, text || "–");
}

/* Reads that missed a write which was acknowledged before, while no server failed. */
function staleCell(row) {
  if (!row.stale) return cell("stale reads", "–", "", null, "not tried");
  const [stale, reads, oldest, broken] = row.stale;
  const text = stale ? `${short(stale)} of ${short(reads)}` : `none of ${short(reads)}`;
  return cell("stale reads", text, !stale ? "good" : broken ? "bad" : "near", `${row.page}#stale`, "", stale ? `at most ${span(oldest * 1000)} old` : "");
}

/* The ratio of the speeds of both in one of the speeds, as the site computed it; or why there is none. */
function ratioCell(position, a, b) {
  const [one, other] = [a, b].map((row) => `${row.store}:${row.variant}`);
  const found = data.ratios.find(([column, left, right]) => column === position && ((left === one && right === other) || (left === other && right === one)));
  if (!found) return element("td", {}, "–", element("small", {}, "not measured together"));
  if (found.length === 4) return element("td", {}, "no ratio", element("small", {}, found[3]));
  let [, left, , middle, low, high, bound, verdict] = found;
  if (left !== one) {
    [middle, low, high] = [1 / middle, 1 / high, 1 / low];
    bound = { "≥": "≤", "≤": "≥" }[bound] || "";
  }
  const times = `${bound ? `${bound} ` : ""}${digits(middle)} ×`;
  return element("td", { class: "ratio" }, times, element("small", {}, `95 %: ${digits(low)} to ${digits(high)}${verdict ? `; ${verdict}` : ""}`));
}

function comparison(a, b) {
  const proof = (row) => plainCell(`${row.claimed}; proven: ${row.proven || "not shown"}`);
  const count = (row) => plainCell(row.answers ? `${[...row.answers].filter((letter) => SHOWN.has(letter)).length} of ${[...row.answers].filter((letter) => letter !== "-").length}` : "not tested");
  const fastest = data.speeds.map((_, at) => Math.max(1, ...[a, b].map((row) => ((row.speeds[data.run] || [])[at] || {}).high || 0)));
  return [
    fact("version", plainCell(a.version), plainCell(b.version), plainCell("")),
    fact("durability claimed", proof(a), proof(b), plainCell("")),
    ...data.roles.map((role) => fact(`as ${role[1]}`, roleCell(a, role), roleCell(b, role), plainCell(""))),
    ...data.faults.map((fault) => fact(`writes lost by ${fault[1]}`, lossCell(a, fault), lossCell(b, fault), plainCell(""))),
    fact("stale reads", staleCell(a), staleCell(b), plainCell("")),
    fact("capabilities", count(a), count(b), plainCell("")),
    ...data.speeds.map(([, words], at) => fact(`${words}, per second`, speedCell(a, data.run, at, fastest[at]), speedCell(b, data.run, at, fastest[at]), ratioCell(at, a, b))),
  ];
}

/* The capabilities that one has and the other was shown not to have. */
function onlyIn(one, other) {
  return [...capabilities.values()].filter(({ name }) => SHOWN.has(answerOf(one, name)) && TRIED_AND_REFUSED.has(answerOf(other, name)));
}

function counted(found, one = "one") {
  return found.length === 1 ? `${one} capability` : `${found.length} capabilities`;
}

function listing(one, other) {
  const found = onlyIn(one, other);
  const groups = new Map();
  for (const each of found) {
    const group = each.name.split(".")[0];
    groups.set(group, [...(groups.get(group) || []), each]);
  }
  return element(
    "section",
    {},
    element("h2", {}, `${counted(found, "One")} of ${nameOf(one)} that ${nameOf(other)} lacks`),
    element("dl", { class: "groups" }, [...groups].map(([group, each]) => [element("dt", {}, group.replaceAll("_", " ")), element("dd", {}, each.flatMap(({ page, title }, at) => [at ? " · " : "", linked(page, title)]))])),
  );
}

function showCompared(state) {
  const [a, b] = [data.variants[state.a], data.variants[state.b]];
  byId("a").value = String(state.a);
  byId("b").value = String(state.b);
  const head = element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "what"), [a, b].map((row) => element("th", { scope: "col" }, linked(row.page, row.product), element("small", {}, row.variant))), element("th", { scope: "col" }, "first / second")));
  byId("compared").replaceChildren(element("caption", { class: "hidden" }, `${nameOf(a)} beside ${nameOf(b)}`), head, element("tbody", {}, comparison(a, b)));
  byId("only").replaceChildren(listing(a, b), listing(b, a));
  const alike = a.answers && b.answers && !onlyIn(a, b).length && !onlyIn(b, a).length;
  byId("answer").textContent = alike
    ? `${nameOf(a)} and ${nameOf(b)} have the same capabilities.`
    : a.answers && b.answers
    ? `${nameOf(a)} has ${counted(onlyIn(a, b))} that ${nameOf(b)} lacks, and lacks ${onlyIn(b, a).length} that it has.`
    : "Of one of them no capability was tested.";
}

function startComparing() {
  const options = () => data.variants.map((row, at) => element("option", { value: at }, `${row.product}, ${row.variant}`));
  byId("a").replaceChildren(...options());
  byId("b").replaceChildren(...options());
  const apply = (state, address) => {
    showCompared(state);
    if (!address) return;
    const words = new URLSearchParams();
    for (const side of ["a", "b"]) words.append(side, `${data.variants[state[side]].store}:${data.variants[state[side]].variant}`);
    history.replaceState(null, "", `#${words}`);
  };
  byId("sides").addEventListener("submit", (event) => event.preventDefault());
  byId("sides").addEventListener("change", () => apply({ a: Number(byId("a").value), b: Number(byId("b").value) }, true));
  byId("swap").addEventListener("click", () => apply({ a: Number(byId("b").value), b: Number(byId("a").value) }, true));
  addEventListener("hashchange", () => isState() && apply(comparedState(), false));
  apply(comparedState(), false);
}

/* The data of the page, and what is looked up in it. */

const holder = byId("data");
const data = holder ? JSON.parse(holder.textContent) : null;
const capabilities = new Map(data ? data.capabilities.map(([name, title, page], at) => [name, { name, title, page: page || `capability/${name}.html`, at }]) : []);

const SHOWN = new Set(["p", "d"]);
const TRIED_AND_REFUSED = new Set(["f", "k", "u"]);

/* Of a variant to a capability: its letter, as storeproof/site/answers.py writes it. */
function answerOf(row, name) {
  const found = capabilities.get(name);
  return (found && row.answers[found.at]) || "-";
}

/* A capability's title in quotes; of alternatives that are one group, the group's; a model or a guarantee by its name. */
function thing(name) {
  const alternatives = name.split(" or ");
  const found = alternatives.map((each) => capabilities.get(each));
  if (found.includes(undefined)) return name;
  const [group, ...others] = new Set(alternatives.map((each) => each.split(".")[0]));
  if (found.length > 1 && !others.length && data.groups[group]) return `“${data.groups[group]}” in any of ${found.length} ways`;
  return found.map(({ title }) => `“${title}”`).join(" or ");
}

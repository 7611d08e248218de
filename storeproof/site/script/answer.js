/* The answer in one sentence: which variants fulfil what is asked; where none does, which come nearest and what they lack. */

const MOST_NAMES = 12;
const MOST_NEAR = 6;
const MOST_LACKS = 3;

function question(asked, one) {
  const roles = asked.filter((each) => each.role).map((each) => each.role);
  const words = asked.filter((each) => !each.role).map((each) => each.words[one ? 0 : 1]);
  return listed([...(roles.length ? [`can be ${listed(roles)}`] : []), ...words]);
}

function names(judged, most) {
  const made = [];
  judged.slice(0, most).forEach(({ row }, at) => made.push(at ? ", " : "", linked(row.page, nameOf(row))));
  if (judged.length > most) made.push(` and ${judged.length - most} more`);
  return made;
}

function fulfilling(judged) {
  return judged.filter(({ open, count }) => !open && !count);
}

function nearest(judged) {
  const tried = judged.filter(({ open, count }) => !open && count);
  const least = Math.min(...tried.map(({ count }) => count));
  return tried.filter(({ count }) => count === least).sort((one, other) => one.over - other.over);
}

function sentence(judged, asked, words) {
  const met = fulfilling(judged);
  const untested = judged.filter(({ open, count }) => open && !count);
  const said = words || question(asked, met.length === 1);
  const parts = met.length
    ? [`${met.length} of ${plural(judged.length, "variant")} ${said}: `, ...names(met, MOST_NAMES), ".", ...looser(met)]
    : [`None of ${plural(judged.length, "variant")} ${said}.`, ...shortcoming(nearest(judged))];
  if (untested.length) parts.push(` Not tested for all of it: `, ...names(untested, MOST_NEAR), ".");
  return parts;
}

/* Those that fill a role in a looser way than others: the difference is told beside the answer. */
function looser(met) {
  const found = [...new Set(met.map(({ ways }) => ways).filter(Boolean))];
  return found.flatMap((ways) => [` Only by ${ways}: `, ...names(met.filter((each) => each.ways === ways), MOST_NEAR), "."]);
}

function shortcoming(near) {
  if (!near.length) return [];
  const [{ count }] = near;
  const lacks = [...new Set(near.flatMap((each) => each.lacks))];
  if (lacks.length && lacks.length <= Math.min(count, NEAR_MISSES)) return [" Nearest: ", ...names(near, MOST_NEAR), `, without ${listed(lacks)}.`];
  const each = near.slice(0, MOST_NEAR).flatMap((one, at) => [at ? "; " : "", ...names([one], 1), `, without ${one.lacks.slice(0, MOST_LACKS).join(", ")}${count > MOST_LACKS ? ` and ${count - MOST_LACKS} more` : ""}`]);
  return [" Nearest: ", ...each, near.length > MOST_NEAR ? `; and ${near.length - MOST_NEAR} more.` : "."];
}

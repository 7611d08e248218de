/* A result that is dropped on the page. It is read here, in the browser, and goes nowhere. */

const LARGEST = 64 * 2 ** 20;
const UNCLAIMED = ["unsupported", "undeclared"];  // the outcomes of what a variant does not claim
const ADVICE = "give a result.json that `pytest suites/` wrote";

/* A field of a result, which must be of a type; what is wrong names its place. */
function field(part, name, type, where) {
  const value = part === null || typeof part !== "object" ? undefined : part[name];
  const found = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  if (!type.split("|").includes(found)) throw new Error(`${where}.${name} is ${found}, and must be ${type.split("|").join(" or ")}`);
  if (found === "number" && !Number.isFinite(value)) throw new Error(`${where}.${name} is no finite number`);
  return found === "string" ? printable(value) : value;
}

function parsed(text, name) {
  let result;
  try {
    result = JSON.parse(text);
  } catch {
    throw new Error(`${name} is not JSON; ${ADVICE}`);
  }
  if (result === null || typeof result !== "object" || typeof result.format !== "string" || !Array.isArray(result.stores)) {
    throw new Error(`${name} is JSON, but no result of storeproof: it lacks \`format\` or \`stores\`; ${ADVICE}`);
  }
  if (!data.formats.includes(result.format)) {
    const found = printable(result.format).slice(0, 40);
    throw new Error(`${name} has format ${found}; this page reads ${data.formats.join(", ")}; \`storeproof site\` reads all older ones`);
  }
  return result;
}

/* A capability's name, `model NAME` or `guarantee NAME`. */
function thingOf(missing, where) {
  const kind = field(missing, "kind", "string", where);
  const name = field(missing, "name", "string", where);
  return ["model", "guarantee"].includes(kind) ? `${kind} ${name}` : name;
}

function roleFrom(profile, where) {
  const verdict = field(profile, "verdict", "string", where);
  const missing = field(profile, "missing", "array", where)
    .map((each) => ({ thing: thingOf(each, `${where}.missing`), means: data.means[field(each, "outcome", "string", `${where}.missing`)] }));
  const told = new Set();
  const [broken, lacks, open] = ["broken", "lacks", "open"].map((means) => {
    const things = [...new Set(missing.filter((each) => each.means === means).map(({ thing }) => thing).filter((thing) => !told.has(thing)))];
    things.forEach((thing) => told.add(thing));
    return things;
  });
  const found = { conforms: "meets", incomplete: "open" }[verdict] || (broken.length ? "failed" : "lacks");
  const extended = Object.keys(field(profile, "extended", "object|undefined", where) || {}).map(printable);
  const looser = (field(profile, "ways", "array|undefined", where) || [])
    .map((way) => [field(way, "demand", "string", `${where}.ways`), field(way, "capability", "string", `${where}.ways`)])
    .filter(([demand, capability]) => demand.split(" or ")[0] !== capability && !extended.includes(demand))
    .map(([, capability]) => capability);
  return [found, broken.length, lacks.length, broken.slice(0, NEAR_MISSES), lacks.slice(0, NEAR_MISSES), open.length, looser];
}

/* The median and the longest time until the store was back: of a cluster, until another node took writes. */
function failoverFrom(record, where) {
  const taken = (field(record, "recovery_seconds", "array|undefined", where) || []).filter(Number.isFinite).sort((a, b) => a - b);
  return taken.length ? [(taken[taken.length >> 1] + taken[(taken.length - 1) >> 1]) / 2, taken[taken.length - 1]] : undefined;
}

/* As storeproof/report/parts/losses.py. */
function lossText(state, operations, of, changed, unstartable) {
  if (state === "lost") return `${percent(Math.min(1, operations / of))} lost${unstartable ? ", no start" : ""}`;
  if (state === "kept") return `0 of ${short(of)}`;
  return { changed: changed[0], no_start: "did not start" }[state] || "no verdict";
}

function lossFrom(record, claimed, run, where) {
  const lost = field(record, "lost", "number", where);
  const of = field(record, "acknowledged", "number", where);
  const changed = data.anomalies.filter((name) => name !== "lost" && field(record, name, "number|undefined", where)).map((name) => `${record[name]} ${name}`);
  const shown = ["pass", "undeclared"].includes(field(record, "outcome", "string", where));
  const worst = field(record, "worst_loss", "object|null|undefined", where);
  const state = lost ? "lost" : changed.length ? "changed" : field(record, "faults_with_loss", "number|undefined", where) ? "no_start" : shown && of ? "kept" : "open";
  const unstartable = state === "no_start" || Boolean(worst && worst.shape === "unstartable");
  const operations = field(record, "lost_operations", "number", where);
  return {
    state,
    text: lossText(state, operations, of, changed, unstartable),
    lost: operations,
    of,
    rounds: record.rounds,
    promised: data.ladder.includes(record.guarantee) && data.ladder.includes(claimed)
      ? data.ladder.indexOf(record.guarantee) <= data.ladder.indexOf(claimed)
      : !UNCLAIMED.includes(record.outcome),
    changed: changed.join(", "),
    unstartable,
    failover: failoverFrom(record, where),
    run,
  };
}

function speedFrom(measured, where) {
  const rate = field(measured, "throughput", "object", where);
  const invalid = field(measured, "invalid", "array", where).map(printable);
  const median = field(rate, "median", "number", where);
  return {
    rate: median,
    low: field(rate, "low", "number", where),
    high: field(rate, "high", "number", where),
    grade: field(measured, "grade", "string", where).slice(0, 1),
    p99: field(field(measured, "latency_us", "object", where), "p99", "number|null", where),
    atLeast: field(measured, "at_least", "boolean", where),
    drifting: field(field(measured, "trend", "object", where), "drifting", "boolean", where),
    invalid: invalid.length ? invalid : median ? null : ["no answer"],
  };
}

/* The plainest numbers of a workload, at the number of clients at which most stores have a valid one; of several the middle one. */
function columnOf(stores, workload) {
  const plain = stores.flatMap((store) => store.measurements.filter((each) => each.workload === workload && !each.rate && !each.record && (each.pipeline || 1) === 1).map((each) => [store, each]));
  const fewest = Math.min(...plain.map(([, each]) => each.indexes));
  const counts = new Map();
  for (const [store, each] of plain.filter(([, each]) => each.indexes === fewest)) {
    if (!counts.has(each.clients)) counts.set(each.clients, []);
    counts.get(each.clients).push([store, each]);
  }
  const valid = [...counts].map(([clients, pairs]) => [clients, pairs.filter(([, each]) => !each.invalid.length && each.throughput.median).length]);
  const most = Math.max(...valid.map(([, count]) => count));
  const best = valid.filter(([, count]) => count === most).map(([clients]) => clients).sort((a, b) => b - a);
  return best.length ? { clients: best[(best.length - 1) >> 1], pairs: counts.get(best[(best.length - 1) >> 1]) } : { clients: 0, pairs: [] };
}

/* As storeproof/result/product.py. */
function productOf(title, version) {
  if (version === null) return `${title}, never reached`;
  const names = title.split(" over ");
  const numbers = (version.startsWith(`${title} `) ? version.slice(title.length + 1) : version).split(" over ");
  if (names.length > 1) return names.length === numbers.length ? names.map((name, at) => `${name} ${numbers[at]}`).join(" over ") : version;
  const [, name, rest] = /^([\p{L}\p{N}_ .-]+?) (\d.*)/u.exec(version) || [];
  return name !== undefined && name !== title && ` ${title} `.includes(` ${name} `) ? `${title} ${rest}` : version;
}

function shortProduct(product) {
  return product.split(" over ").map((each) => (/^.*? \d+(\.\d+)*/.exec(each) || [each])[0]).join(" over ");
}

/* In what a number differs from the most others of its column, by the fields that `storeproof compare` demands alike. */
function apartFrom(measured, pairs) {
  const unlike = (one, other) => data.plan.filter(([name]) => (one[name] ?? null) !== (other[name] ?? null));
  const alike = (one) => pairs.filter(([, other]) => !unlike(one, other).length).length;
  const most = Math.max(...pairs.map(([, each]) => alike(each)));
  const [, usual] = pairs.find(([, each]) => alike(each) === most);
  return unlike(measured, usual).map(([, words]) => `${words} differs`).join("; ");
}

function rowFrom(store, columns, run, where) {
  const durability = field(store, "durability", "object", where);
  const claimed = field(durability, "claimed", "string", `${where}.durability`);
  const answers = new Map(field(store, "capabilities", "array", where).map((each) => [field(each, "capability", "string", where), data.letters[each.outcome] || "-"]));
  const tried = [...answers.values()].some((letter) => letter !== "n" && letter !== "x");
  const title = field(store, "title", "string", where);
  const version = productOf(title, field(store, "version", "string|null", where));
  const profiles = field(store, "profiles", "array", where).map((each) => [field(each, "profile", "string", where), roleFrom(each, `${where}.profiles`)]);
  const struck = field(durability, "guarantees", "array", where).filter((each) => field(each, "rounds", "number", where));
  const cells = columns.map(({ pairs }) => {
    const pair = pairs.find(([other]) => other === store);
    const apart = pair && apartFrom(pair[1], pairs);
    return apart ? { apart } : pair ? speedFrom(pair[1], `${where}.measurements`) : null;
  });
  return {
    own: true,
    store: field(store, "store", "string", where),
    variant: field(store, "variant", "string", where),
    title,
    product: shortProduct(version),
    version,
    page: null,
    claimed,
    proven: field(durability, "proven", "string|null", where),
    run: tried ? run : null,
    answers: tried ? [...capabilities.keys()].map((name) => answers.get(name) || "-").join("") : "",
    roles: tried ? Object.fromEntries(profiles) : {},
    losses: Object.fromEntries(struck.map((each) => [each.guarantee, lossFrom(each, claimed, run, `${where}.durability`)])),
    speeds: cells.some(Boolean) ? { [run]: cells } : {},
  };
}

/* The rows of a result, and its run, as the page's data has them. */
function rowsFrom(result, name, run) {
  result.stores.forEach((store, at) => {
    for (const each of field(store, "measurements", "array", `stores.${at}`)) {
      for (const [part, type] of [["workload", "string"], ["indexes", "number"], ["clients", "number"], ["invalid", "array"], ["throughput", "object"]]) {
        field(each, part, type, `stores.${at}.measurements`);
      }
    }
  });
  const columns = data.speeds.map(([workload]) => columnOf(result.stores, workload));
  const about = field(result, "run", "object", name);
  return {
    rows: result.stores.map((store, at) => rowFrom(store, columns, run, `stores.${at}`)),
    run: {
      id: `yours-${run}`,
      name: `${name} (yours)`,
      scale: field(about, "scale", "string", "run"),
      date: field(about, "started", "string", "run").slice(0, 10),
      clients: columns.some(({ pairs }) => pairs.length) ? columns.map(({ clients }) => clients) : null,
    },
  };
}

async function take(file) {
  const name = printable(file.name).slice(0, 80);
  if (file.size > LARGEST) throw new Error(`${name} is longer than ${LARGEST / 2 ** 20} MiB; ${ADVICE}`);
  const result = parsed(await file.text(), name);
  try {
    return { name, ...rowsFrom(result, name, data.runs.length) };
  } catch (wrong) {
    throw new Error(`${name} is not a result in format ${result.format}: ${wrong.message}; ${ADVICE}`);
  }
}

/* Takes results that are dropped or chosen; `changed` is called with the run whose speeds are to be shown, or null. */
function startDropping(changed) {
  const [zone, input, said] = [byId("drop"), byId("file"), byId("dropped")];
  const takeAll = async (files) => {
    for (const file of files) {
      try {
        const { name, rows, run } = await take(file);
        data.runs.push(run);
        data.variants.push(...rows);
        if (run.clients) byId("run").append(element("option", { value: run.id }, `${run.name}, ${run.scale}`));
        said.textContent = `${name}: ${plural(rows.length, "variant")} added to the table, marked “yours”. Its speeds are shown under “speeds of run”, since numbers of different runs are not comparable.`;
        changed(null);
      } catch (wrong) {
        said.textContent = wrong.message;
      }
      said.hidden = false;
    }
  };
  for (const name of ["dragover", "dragenter"]) {
    addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  addEventListener("dragleave", () => zone.classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    takeAll([...event.dataTransfer.files]);
  });
  input.addEventListener("change", () => takeAll([...input.files]));
}

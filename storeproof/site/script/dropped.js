/* A result that is dropped on the page. It is read here, in the browser, and goes nowhere. */

const LARGEST = 64 * 2 ** 20;
const ADVICE = "give a result.json that `pytest suites/` wrote";

/* What is read of a result: types, lists of one, and parts with these fields, or with any (`*`). */
const ROLE = { verdict: "string", failed: ["string"], lacking: ["string"], open: "number", looser: ["string"] };
const FAULT = { state: "string", promised: "boolean", rounds: "number", text: "string", changed: "string", failover: "array|null", succession: "string|undefined" };
const SPEED = { clients: "number", rate: "number", low: "number", high: "number", grade: "string", p99: "number|null", at_least: "boolean", drifting: "boolean", invalid: "array|null" };
const STORE = {
  store: "string",
  variant: "string",
  title: "string",
  topology: "string",
  durability: { claimed: "string", proven: "string|null" },
  capabilities: [{ capability: "string", outcome: "string" }],
  first_screen: { product: "string", version: "string", tried: "boolean", roles: { "*": ROLE }, losses: { "*": FAULT }, speeds: { "*": SPEED }, apart: { "*": "string" } },
};
const RESULT = { run: { scale: "string", started: "string" }, stores: [STORE] };

function check(value, shape, where) {
  const wanted = typeof shape === "string" ? shape : Array.isArray(shape) ? "array" : "object";
  const found = Array.isArray(value) ? "array" : value === null ? "null" : value === Infinity || value === -Infinity ? "infinite" : typeof value;
  if (!wanted.split("|").includes(found)) throw new Error(`${where} is ${found}, and must be ${wanted.replace("|", " or ")}`);
  if (wanted === "array" && shape !== "array") value.forEach((each, at) => check(each, shape[0], `${where}.${at}`));
  if (wanted === "object") Object.keys("*" in shape ? value : shape).forEach((name) => check(value[name], shape["*"] || shape[name], where ? `${where}.${name}` : name));
}

function parsed(text, name) {
  let result;
  try {
    result = JSON.parse(text, (_, value) => (typeof value === "string" ? printable(value) : value));
  } catch {
    throw new Error(`${name} is not JSON; ${ADVICE}`);
  }
  if (result === null || typeof result !== "object" || typeof result.format !== "string" || !Array.isArray(result.stores)) {
    throw new Error(`${name} is JSON, but no result of storeproof: it lacks \`format\` or \`stores\`; ${ADVICE}`);
  }
  if (!data.formats.includes(result.format)) {
    throw new Error(`${name} has format ${result.format.slice(0, 40)}; this page reads ${data.formats.join(", ")}; \`storeproof site\` reads all older ones`);
  }
  try {
    check(result, RESULT, "");
  } catch (wrong) {
    throw new Error(`${name} is not a result in format ${result.format}: ${wrong.message}; ${ADVICE}`);
  }
  return result;
}

/* A row of the table, as the result says it. */
function rowFrom({ store, variant, title, topology, durability, capabilities: answered, first_screen: screen }, run) {
  const answers = new Map(answered.map(({ capability, outcome }) => [capability, data.letters[outcome]]));
  const speeds = data.speeds.map(([workload]) => (screen.apart[workload] ? { apart: screen.apart[workload] } : screen.speeds[workload] || null));
  return {
    own: true,
    store,
    variant,
    title,
    product: screen.product,
    version: screen.version,
    page: null,
    alone: topology === "single",
    claimed: durability.claimed,
    proven: durability.proven,
    run: screen.tried ? run : null,
    answers: screen.tried ? [...capabilities.keys()].map((name) => answers.get(name) || "-").join("") : "",
    roles: screen.roles,
    losses: Object.fromEntries(Object.entries(screen.losses).map(([guarantee, loss]) => [guarantee, { ...loss, run }])),
    speeds: speeds.some(Boolean) ? { [run]: speeds } : {},
    paced: [],
  };
}

/* The rows of a file, and its run, as the page's data has them. */
async function take(file) {
  const name = printable(file.name).slice(0, 80);
  if (file.size > LARGEST) throw new Error(`${name} is longer than ${LARGEST / 2 ** 20} MiB; ${ADVICE}`);
  const { stores, run } = parsed(await file.text(), name);
  const clients = data.speeds.map(([workload]) => Math.max(0, ...stores.map(({ first_screen: { speeds } }) => (speeds[workload] || { clients: 0 }).clients)));
  return {
    name,
    rows: stores.map((store) => rowFrom(store, data.runs.length)),
    run: { id: `yours-${data.runs.length}`, name: `${name} (yours)`, scale: run.scale, date: run.started.slice(0, 10), clients: clients.some(Boolean) ? clients : null },
  };
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

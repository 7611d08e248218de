/* The table of the first screen. */

function headings(state) {
  const run = state.run === null ? null : data.runs[state.run];
  const clients = run ? [...new Set(run.clients.filter((each) => each))] : [];
  const alike = clients.length === 1;
  const speeds = `operations per second${alike ? `, ${plural(clients[0], "client")}` : ""}`;
  const group = (text, columns) => element("th", { scope: "colgroup", colspan: columns, role: "columnheader" }, text);
  const heading = (text, note) => element("th", { scope: "col", role: "columnheader" }, text, note ? element("small", {}, note) : null);
  return element(
    "thead",
    { role: "rowgroup" },
    element(
      "tr",
      { role: "row" },
      element("th", { scope: "col", rowspan: 2, role: "columnheader" }, "store"),
      group("can it be my …", data.roles.length),
      group("acknowledged writes lost", data.faults.length),
      group(speeds, data.speeds.length),
    ),
    element(
      "tr",
      { role: "row" },
      data.roles.map(([, label]) => heading(label)),
      data.faults.map(([, words]) => heading(words)),
      data.speeds.map(([, words], at) => heading(words, alike || !run || !run.clients[at] ? "" : plural(run.clients[at], "client"))),
    ),
  );
}

function line(row, state, fastest) {
  const name = element("th", { scope: "row", role: "rowheader" }, linked(row.page, row.product), element("small", {}, row.variant + (row.own ? " · yours" : "")), clusterLines(row));
  return element(
    "tr",
    { role: "row", class: row.own ? "own" : null, "data-variant": `${row.store}:${row.variant}` },
    name,
    data.roles.map((role) => roleCell(row, role)),
    data.faults.map((fault) => lossCell(row, fault)),
    data.speeds.map((_, at) => speedCell(row, state.run, at, fastest[at])),
  );
}

function showTable(rows, state) {
  const fastest = data.speeds.map((_, at) => Math.max(1, ...rows.map((row) => ((row.speeds[state.run] || [])[at] || {}).high || 0)));
  const body = element("tbody", { role: "rowgroup" }, rows.map((row) => line(row, state, fastest)));
  byId("table").replaceChildren(element("caption", { class: "hidden" }, "Roles, losses and speeds of each variant"), headings(state), body);
}

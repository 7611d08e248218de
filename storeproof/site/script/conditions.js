/* What is asked of a variant. A check gives what is missing, [] where nothing is, and null for what was not shown. */

function roleCondition(name) {
  const label = data.roles.find(([profile]) => profile === name)[1];
  return {
    role: label,
    ways(row) {
      return ((row.roles[name] || {}).looser || []).map(thing);
    },
    check(row) {
      const role = row.roles[name];
      if (!role || role.verdict === "open") return null;
      return [...missingOf(role), ...(role.open ? [null] : [])];
    },
  };
}

function ofCluster(guarantee) {
  return data.clusters.some(([name]) => name === guarantee);
}

/* One server does not keep its data through the loss of a node: it has no other. */
function keepsCondition(guarantee) {
  const [, fault, what] = [...data.faults, ...data.clusters].find(([name]) => name === guarantee);
  return {
    words: [`keeps every acknowledged write through ${what}`, `keep every acknowledged write through ${what}`],
    check(row) {
      const loss = row.losses[guarantee];
      if (!loss && ofCluster(guarantee) && row.alone) return ["a second node"];
      if (!loss || loss.state === "open") return null;
      return loss.state === "kept" ? [] : [`writes (${fault}: ${loss.text})`];
    },
  };
}

function mustCondition(name) {
  const { title } = capabilities.get(name);
  return {
    words: [`has “${title}”`, `have “${title}”`],
    check(row) {
      const letter = answerOf(row, name);
      if (SHOWN.has(letter)) return [];
      return TRIED_AND_REFUSED.has(letter) ? [`“${title}”`] : null;
    },
  };
}

/* By the level of a transaction: one that claims as much, and that no transaction of the results refutes. */
function isolationCondition(level) {
  const words = level.replaceAll("_", " ");
  return {
    words: [`has transactions that are not refuted as ${words}`, `have transactions that are not refuted as ${words}`],
    check(row) {
      if (!row.isolation || row.isolation[level] === "open") return null;
      return row.isolation[level] === "shown" ? [] : [row.isolation[level] === "refuted" ? `${words} (refuted)` : words];
    },
  };
}

/* By the response times at a rate that clients keep: those of clients that wait for each reply say nothing of it. */
function timeCondition(rate, milliseconds) {
  const place = data.paced.rates.indexOf(rate);
  const words = `99 of 100 reads and writes of values within ${milliseconds} ms, at ${rate.toLocaleString("en")} a second`;
  return {
    words: [`answers ${words}`, `answer ${words}`],
    over(row) {
      const time = row.paced[place];
      return time > 0 ? time : Infinity;
    },
    check(row) {
      const time = row.paced[place];
      if (time === undefined || time === null) return null;
      if (time < 0) return [`${rate.toLocaleString("en")} requests a second (it does not keep up)`];
      return time <= milliseconds * 1000 ? [] : [`${milliseconds} ms (it takes ${span(time)})`];
    },
  };
}

function conditionsOf(state) {
  const asked = state.roles.map(roleCondition);
  if (state.keeps) asked.push(keepsCondition(state.keeps));
  if (state.isolation) asked.push(isolationCondition(state.isolation));
  asked.push(...state.must.map(mustCondition));
  if (state.p99) asked.push(timeCondition(state.at, state.p99));
  return asked;
}

/* For each variant what it lacks, whether something was not shown, and by which looser alternatives it fills the roles, and its 99th percentile. */
function judge(rows, asked) {
  return rows.map((row) => {
    const found = asked.map((each) => each.check(row));
    const ways = listed([...new Set(asked.flatMap((each) => (each.ways ? each.ways(row) : [])))]);
    const over = Math.max(0, ...asked.map((each) => (each.over ? each.over(row) : 0)));
    return { row, ways, over, open: found.flat().includes(null), lacks: [...new Set(found.flat().filter((each) => each))], count: found.flat().filter((each) => each !== null).length };
  });
}

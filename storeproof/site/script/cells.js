/* The cells of the first screen and of the comparison: text, tone, and the link to the evidence. */

const NEAR_MISSES = 10;

function roleText({ verdict, failed = [], lacking = [], open = 0 }) {
  if (verdict === "meets") return "✔ meets";
  if (verdict === "open") return "not shown";
  const counts = [failed.length && `fails ${failed.length}`, lacking.length && `lacks ${lacking.length}`, open && `${open} not shown`];
  return counts.filter(Boolean).join(", ");
}

function roleTone({ verdict, lacking = [], open = 0 }) {
  if (verdict === "lacks") return lacking.length + open < NEAR_MISSES ? "near" : "";
  return { meets: "good", failed: "bad" }[verdict] || "";
}

function missingOf({ failed = [], lacking = [] }) {
  return [...failed, ...lacking].map(thing);
}

function roleCell(row, [profile, label, , anchor]) {
  const role = row.roles[profile];
  if (!role) return cell(label, "–", "", null, "not tried");
  const page = row.page && `${row.page}#role.${anchor}`;
  if (role.verdict === "meets") {
    const looser = role.looser || [];
    return cell(label, roleText(role), "good", page, looser.map(thing).join(", "), looser.length ? `by ${looser.join(", ")}` : "");
  }
  const missing = missingOf(role);
  const hint = missing.slice(0, NEAR_MISSES).join(", ") + (missing.length > NEAR_MISSES ? ` and ${missing.length - NEAR_MISSES} more` : "");
  return cell(label, roleText(role), roleTone(role), page, hint);
}

function lossTone(loss) {
  if (loss.state === "kept") return "good";
  if (loss.state === "open") return "";
  return loss.promised ? "bad" : "near";
}

function lossCell(row, [guarantee, words]) {
  const loss = row.losses[guarantee];
  if (!loss) return cell(words, "–", "", null, "not tried");
  const run = data.runs[loss.run];
  const promise = loss.state === "kept" || loss.state === "open" ? "" : loss.promised ? "promised" : "not promised";
  const hint = [`${plural(loss.rounds, "fault")}, run ${run.name}`, loss.changed].filter(Boolean).join("; ");
  return cell(words, loss.text, lossTone(loss), loss.at && run.page ? `${run.page}#${loss.at}` : null, hint, promise);
}

/* Of a cluster whose primary was struck, for each fault: what was lost, and how long it took until another node took writes. */
function clusterLines(row) {
  return data.clusters
    .filter(([guarantee]) => row.losses[guarantee])
    .map(([guarantee, words]) => {
      const loss = row.losses[guarantee];
      const run = data.runs[loss.run];
      const [usual, longest] = loss.failover || [];
      const how = loss.succession ? ` (${loss.succession})` : "";
      const taken = loss.failover ? `; failover ${span(usual * 1e6)}${how}` : "";
      const said = linked(loss.at && run.page ? `${run.page}#${loss.at}` : null, `${words}: ${loss.text}${taken}`);
      said.title = `${plural(loss.rounds, "fault")}, run ${run.name}` + (taken && `; failover: the median, at most ${span(longest * 1e6)}`);
      return element("small", { class: lossTone(loss) || null }, said);
    });
}

function speedText(speed) {
  if (speed.invalid) return `✘ ${speed.invalid.join(", ")}`;
  return `${speed.at_least ? "≥ " : ""}${short(speed.rate)}`;
}

function speedNote(speed) {
  if (speed.invalid) return "not valid";
  return speed.drifting ? "drifting" : `±${Math.round(((speed.high - speed.low) / 2 / speed.rate) * 100)} %`;
}

function speedCell(row, run, position, fastest) {
  const [, words] = data.speeds[position];
  const speed = (row.speeds[run] || [])[position];
  if (!speed) return cell(words, "–", "speed", null, "not measured in this run, or the store cannot do it");
  if (speed.apart) return cell(words, "not comparable", "speed near", null, speed.apart);
  const page = data.runs[run].page;
  const hint = speed.p99 === null ? "" : `99 of 100 within ${span(speed.p99)}`;
  const made = cell(words, speedText(speed), speed.invalid ? "speed bad" : "speed", page && speed.at ? `${page}#${speed.at}` : null, hint, speedNote(speed));
  if (!speed.invalid) {
    made.append(element("b", { class: `grade grade-${speed.grade.toLowerCase()}`, title: "grade" }, speed.grade));
    made.prepend(bar(speed, fastest));
  }
  return made;
}

function bar(speed, fastest) {
  const share = (value) => `${Math.max(0, Math.min(100, (value / fastest) * 100))}%`;
  const [whole, length, interval] = ["span", "i", "u"].map((tag) => element(tag, {}));
  whole.className = "bar";
  whole.setAttribute("aria-hidden", "true");
  length.style.width = share(speed.rate);
  interval.style.left = share(speed.low);
  interval.style.width = share(speed.high - speed.low);
  whole.append(length, interval);
  return whole;
}

function cell(label, text, tone, page, hint, note) {
  const said = linked(page, text);
  if (hint) said.title = hint;
  return element("td", { class: tone || null, "data-label": label, role: "cell" }, said, note ? element("small", {}, note) : null);
}

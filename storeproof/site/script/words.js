/* How numbers and names are written: as storeproof/units.py and storeproof/printable.py do. */

function digits(number) {
  return String(Number(number.toPrecision(3)));
}

function short(number) {
  const rounded = Number(number.toPrecision(3));
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(rounded) >= size) return digits(rounded / size) + unit;
  }
  return digits(rounded);
}

function span(micros) {
  if (micros >= 1e6) return `${digits(micros / 1e6)} s`;
  return micros >= 1e3 ? `${digits(micros / 1e3)} ms` : `${digits(micros)} µs`;
}

function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

function plural(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/* Control characters and marks of direction as their code: a text must not look like another. */
function printable(text) {
  return String(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function nameOf(row) {
  return `${row.title} (${row.variant})`;
}

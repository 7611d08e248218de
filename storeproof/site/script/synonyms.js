/* Words that people use for a capability, and ours. A word that stands for nothing that any case tries is said to be not tested. */

const SYNONYMS = new Map([
  ["ttl", ["expiry"]],
  ["expire", ["expiry"]],
  ["expiration", ["expiry"]],
  ["queue", ["list-push", "list-pop"]],
  ["job", ["list-push", "list-pop"]],
  ["jobs", ["list-push", "list-pop"]],
  ["leaderboard", ["sorted set", "ranking"]],
  ["json", ["documents."]],
  ["cas", ["compare-and-set"]],
  ["upsert", ["put-get"]],
  ["join", ["lookup."]],
  ["fulltext", ["text."]],
  ["acid", ["transactions."]],
]);

/* Whole questions, and the capability that answers them: it comes first, before others that have the words. */
const MEANT = new Map([
  ["ttl", "expiry.put-expiring"],
  ["time to live", "expiry.put-expiring"],
  ["expire", "expiry.put-expiring"],
  ["expiry", "expiry.put-expiring"],
  ["queue", "structures.list-pop"],
  ["job", "structures.list-pop"],
  ["jobs", "structures.list-pop"],
  ["json", "documents.nested-put-get"],
  ["index", "indexes.document"],
]);

const UNTESTED = new Set(["vector", "vectors", "embedding", "embeddings", "knn", "ann", "graph", "blob", "xml", "trigger", "triggers", "procedure", "procedures", "backup"]);

function wordsOf(asked) {
  return asked.toLowerCase().split(/\s+/).filter(Boolean);
}

/* Whether a text has a word, or one that stands for the same. */
function hasWord(text, word) {
  return text.includes(word) || (SYNONYMS.get(word) || []).some((other) => text.includes(other));
}

function meantBy(asked) {
  return MEANT.get(wordsOf(asked).join(" "));
}

/* What is said where nothing is found. */
function nothingFound(asked) {
  const untested = wordsOf(asked).filter((word) => UNTESTED.has(word));
  return untested.length ? `${untested.join(", ")}: not tested. No case of storeproof tries it.` : "No capability has these words.";
}

// The official Node client (npm `marklogic`) against the stub: node roundtrip.js PORT USER PASSWORD
// Prints one JSON object of what it read back; the test judges it.
'use strict';

const marklogic = require('marklogic');

const [port, user, password] = process.argv.slice(2);
const connection = { host: '127.0.0.1', port: Number(port), user, password, authType: 'DIGEST' };
const db = marklogic.createDatabaseClient(connection);
const qb = marklogic.queryBuilder;
const pb = marklogic.patchBuilder;
const vb = marklogic.valuesBuilder;
const codepoint = 'http://marklogic.com/collation/codepoint';
const color = qb.pathIndex('/node/record/color');
const price = qb.pathIndex('/node/record/price');
const text = qb.datatype('string', codepoint);
const number = qb.datatype('double');
const loose = ['case-insensitive', 'diacritic-insensitive', 'punctuation-insensitive', 'unstemmed'];
const plain = qb.termOptions(...loose, 'unwildcarded');
const wild = qb.termOptions(...loose, 'wildcarded');

function described(key, record) {
  return { uri: `/node/${key}.json`, contentType: 'application/json', collections: ['node'], content: { node: { key, record } } };
}

async function refused(promise) {
  try {
    await promise;
  } catch (error) {
    return error.body.errorResponse.messageCode;
  }
  return 'not refused';
}

// The structured queries that the client builds: our adapter has to write the same.
function built() {
  const query = qb
    .where(qb.or(qb.range(color, text, '=', ['red', 'blue']), qb.not(qb.range(price, number, '>=', 2.5)), qb.and(qb.range(price, number, '>', 7))))
    .orderBy(qb.sort(price, number, 'descending'), qb.sort(color, text, 'ascending'))
    .calculate(qb.facet('colors', color, text, qb.facetOptions('frequency-order', 'descending', 'limit=3')))
    .slice(0, 5, qb.extract({ selected: 'include-with-ancestors', paths: ['/node/record/node("maker")/node("country")'] }));
  const words = qb.where(
    qb.and(qb.or(qb.word('title', 'fox', plain), qb.word('body', 'fox', plain)), qb.or(qb.word('title', 'dog', plain), qb.word('body', 'dog', plain))),
    qb.word('title', ['fox', 'dog'], plain),
    qb.word('title', 'quick brown', plain),
    qb.word('title', 'jump*', wild),
  );
  return {
    words: words.whereClause.query.queries,
    where: query.whereClause.query.queries,
    order: query.orderByClause['sort-order'],
    facet: query.calculateClause.constraint,
    extract: query.sliceClause['extract-document-data'],
  };
}

async function main() {
  const seen = { built: built() };
  seen.written = await db.documents
    .write(described('a', { color: 'red', price: 4.25 }), described('b', { color: 'blue', price: 10 }), described('c', { color: 'red' }))
    .result((response) => response.documents.length);
  seen.one = (await db.documents.read('/node/a.json').result())[0].content;
  seen.many = (await db.documents.read('/node/b.json', '/node/none.json', '/node/c.json').result()).map((each) => each.uri);
  seen.probed = [(await db.documents.probe('/node/a.json').result()).exists, (await db.documents.probe('/node/none.json').result()).exists];

  await db.documents
    .patch(
      '/node/a.json',
      pb.replaceInsert('/node/node("record")/node("size")', '/node/node("record")', 'last-child', { size: 7 }),
      pb.remove('/node/node("record")/node("color")'),
    )
    .result();
  seen.patched = (await db.documents.read('/node/a.json').result())[0].content.node.record;

  const dropped = await db.transactions.open().result();
  await db.documents.write({ txid: dropped, documents: [described('d', { color: 'green' })] }).result();
  seen.inside = (await db.documents.probe({ uri: '/node/d.json', txid: dropped }).result()).exists;
  await db.transactions.rollback(dropped).result();
  seen.rolledBack = (await db.documents.probe('/node/d.json').result()).exists;
  const kept = await db.transactions.open().result();
  await db.documents.write({ txid: kept, documents: [described('d', { color: 'green', price: 1 })] }).result();
  await db.transactions.commit(kept).result();
  seen.committed = (await db.documents.probe('/node/d.json').result()).exists;

  const found = await db.documents
    .query(
      qb
        .where(qb.collection('node'), qb.not(qb.range(color, text, '=', 'red')), qb.range(price, number, '>', 2))
        .orderBy(qb.sort(price, number, 'descending')),
    )
    .result();
  seen.found = found.map((each) => each.uri);
  const counted = await db.documents
    .query(qb.where(qb.collection('node')).calculate(qb.facet('colors', color, text, qb.facetOptions('frequency-order', 'descending'))).slice(0, 0))
    .result();
  seen.total = counted[0].total;
  seen.facet = counted[0].facets.colors.facetValues.map((each) => [each.value, each.count]);
  seen.noIndex = await refused(db.documents.query(qb.where(qb.range(qb.pathIndex('/node/none'), text, '=', 'x'))).result());

  const said = (key, title, body) => ({ ...described(key, { title, body }), collections: ['said'] });
  await db.documents
    .write(said('s1', 'A fox', 'One fox, another Fox.'), said('s2', 'The quick, brown fox', 'It jumps.'), said('s3', 'Café', 'No animals; fox is a word.'))
    .result();
  const inTexts = (...queries) => db.documents.query(qb.where(qb.collection('said'), ...queries)).result();
  const looked = (...queries) => db.documents.query(qb.where(qb.collection('said'), ...queries).withOptions({ search: ['filtered'] })).result();
  const uris = (results) => results.map((each) => each.uri);
  seen.word = uris(await inTexts(qb.word('title', 'FOX', plain)));
  seen.anyWord = uris(await inTexts(qb.or(qb.word('title', ['fox', 'cafe'], plain), qb.word('body', ['fox', 'cafe'], plain))));
  seen.caseCounts = uris(await inTexts(qb.word('body', 'Fox')));
  seen.term = uris(await inTexts(qb.term('animals')));
  seen.notWord = uris(await inTexts(qb.not(qb.word('title', 'fox', plain))));
  seen.phrase = uris(await looked(qb.word('title', 'quick brown', plain)));
  seen.prefix = uris(await looked(qb.word('body', 'jum*', wild)));
  seen.unfiltered = await refused(inTexts(qb.word('title', 'quick brown', plain)));
  await db.documents.removeAll({ collection: 'said' }).result();

  const computed = await db.values
    .read(vb.fromIndexes(vb.range(price, number)).where(vb.collection('node')).aggregates('count', 'sum', 'min', 'max', 'avg'))
    .result();
  seen.computed = computed['values-response']['aggregate-result'].map((each) => [each.name, each._value]);
  const none = await db.values.read(vb.fromIndexes(vb.range(price, number)).where(vb.range(price, number, '>', 99)).aggregates('sum')).result();
  seen.ofNothing = none['values-response']['aggregate-result'];

  await db.config.serverprops.write({ 'update-policy': 'version-optional' }).result();
  seen.policy = (await db.config.serverprops.read().result())['update-policy'];
  const version = (await db.documents.probe('/node/b.json').result()).versionId;
  await db.documents.write({ ...described('b', { color: 'black' }), versionId: version }).result();
  seen.stale = await refused(db.documents.write({ ...described('b', { color: 'white' }), versionId: version }).result());
  seen.afterStale = (await db.documents.read('/node/b.json').result())[0].content.node.record;
  await db.config.serverprops.write({ 'update-policy': 'merge-metadata' }).result();

  await db.documents.remove('/node/a.json').result();
  await db.documents.removeAll({ collection: 'node' }).result();
  seen.left = (await db.documents.probe('/node/b.json').result()).exists;
  const stranger = marklogic.createDatabaseClient({ ...connection, password: `${password}?` });
  try {
    await stranger.documents.read('/node/a.json').result();
    seen.stranger = 200;
  } catch (error) {
    seen.stranger = error.statusCode;
  }
  // Kept connections would keep the process.
  stranger.release();
  db.release();
  console.log(JSON.stringify(seen));
}

main().catch((error) => {
  console.error(error.stack || error, JSON.stringify(error.body || {}));
  process.exit(1);
});

// The official Node client (npm `marklogic`) against the stand-in: node roundtrip.js PORT USER PASSWORD
// Prints one JSON object of what it read back; whoever runs it judges.
'use strict';

const marklogic = require('marklogic');

const [port, user, password] = process.argv.slice(2);
const connection = { host: '127.0.0.1', port: Number(port), user, password, authType: 'DIGEST' };
const db = marklogic.createDatabaseClient(connection);
const qb = marklogic.queryBuilder;
const pb = marklogic.patchBuilder;
const codepoint = 'http://marklogic.com/collation/codepoint';
const color = qb.pathIndex('/node/record/color');
const price = qb.pathIndex('/node/record/price');
const text = qb.datatype('string', codepoint);
const number = qb.datatype('double');

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
  return {
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

// The figures that the bench computes and counts. The workflow `drift` runs the whole bench every week.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { type BenchFigures, compare, summaryOf, targetsOf } from '../../infra/bench/against/compare.ts';
import { fetchTree } from '../../infra/bench/against/other-tree.ts';
import { readOptions } from '../../infra/bench/bench-options.ts';
import { atLeast, atMost, hasFailed, percentile, tableText } from '../../infra/bench/report.ts';
import { scaleReport } from '../../infra/bench/sections/scale.ts';
import { weightRows } from '../../infra/bench/sections/weight-rows.ts';
import { measureWeights } from '../../infra/bench/sections/weights.ts';
import { itemBytes } from '../../infra/bench/test-bed/item-size.ts';
import { costOf } from '../../infra/bench/test-bed/measured-calls.ts';
import { startPeers } from '../../infra/bench/test-bed/peer.ts';
import { startStoreProxy } from '../../infra/bench/test-bed/store-proxy.ts';
import type { TestBed } from '../../infra/bench/test-bed/test-bed.ts';
import { startDynamoEngine } from '../../infra/dynamodb-engine/start-engine.ts';
import { interfaceIds } from '../../shared/foundation/constants/index.ts';
import { answerWeights, pathsOf, requestWeights } from '../../shared/protocol/memory-budget/index.ts';
import { describeOnDynamo } from '../support/dynamodb.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('this tree beside another one', () => {
  it('refuses what is no commit, before it fetches anything', async () => {
    const folder = temporaryFolder();
    await expect(fetchTree('no-such-commit', folder)).rejects.toThrow(
      '--against takes a commit of this repository, and no-such-commit is none',
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the weights', () => {
  it('are measured for every interface by every path of it, and no example of a description lacks its text', async () => {
    const { plan } = readOptions(['--rows', 'no such row']);
    const measured = await measureWeights({} as TestBed, plan).catch(({ message }: Error) => message);
    const rows = interfaceIds.flatMap((id) => pathsOf(id).map((path) => `${id} ${path}`));
    expect(rows.length).toBeGreaterThan(interfaceIds.length);
    // Rows ending in `read` have no weight of their own, because a body that is read goes on to a provider.
    const missing = rows.filter(
      (row) => !row.endsWith(' read') && !new RegExp(`[:;] ${row}(;|, a form|$)`).test(String(measured)),
    );
    expect(missing).toEqual([]);
  });

  it('each have a row', async () => {
    const measured: ReadonlySet<string> = new Set((await weightRows()).flatMap(({ measures }) => measures));
    const weights = [...Object.keys(requestWeights), ...Object.keys(answerWeights)];
    expect(weights).toContain('checkedText');
    expect(weights.filter((name) => !measured.has(name))).toEqual([]);
  });

  it('fail a run that measures more than the table says, and times do not', () => {
    const targets = [atMost('a row', 3, 2)];
    expect(hasFailed({ tables: [], targets, failsWhereMissed: true })).toBe(true);
    expect(hasFailed({ tables: [], targets: [atMost('a row', 2, 2)], failsWhereMissed: true })).toBe(false);
    expect(hasFailed({ tables: [], targets: [atMost('a row', undefined, 2)], failsWhereMissed: true })).toBe(true);
    expect(hasFailed({ tables: [], targets })).toBe(false);
  });
});

describe('what the bench computes', () => {
  it('gives means per call of what the proxy counted', () => {
    const request = { startedAtMs: 0, endedAtMs: 1, bytes: 1_024, writeUnits: 3, readUnits: 1, writtenTables: [] };
    expect(costOf([request, request, request], 2)).toEqual({
      requests: 1.5,
      writeUnits: 4.5,
      readUnits: 1.5,
      kilobytes: 1.5,
    });
  });

  it('takes percentiles that were measured', () => {
    const values = [5, 1, 4, 2, 3];
    expect([0, 0.5, 0.99, 1].map((fraction) => percentile(values, fraction))).toEqual([1, 3, 5, 5]);
    expect(percentile([], 0.5)).toBeNaN();
  });

  it('sizes items by the rules of DynamoDB', () => {
    const [n, m, z, big] = ['12345', '-1', '0', '100000'].map((N) => ({ N }));
    expect(itemBytes({ pk: { S: 'abc' } })).toBe(5);
    expect(itemBytes({ n, m, z, big } as never)).toBe(1 + 4 + 1 + 3 + 1 + 1 + 3 + 2);
    const [l, o] = [{ L: [{ N: '1' }, { S: 'ab' }] }, { M: { a: { BOOL: true }, b: { NULL: true } } }];
    expect(itemBytes({ l, o })).toBe(1 + 3 + 3 + 3 + 1 + 3 + 3 + 3);
    expect(itemBytes({ b: { B: 'AAAA' } })).toBe(4);
  });

  it('misses a target that was not measured', () => {
    expect(atMost('x', 2, 2)).toEqual(['x', '≤ 2', '2', 'met']);
    expect(atMost('x', 2.5, 2, ' ms')).toEqual(['x', '≤ 2 ms', '2.50 ms', 'MISSED']);
    expect(atLeast('x', 2, 3)[3]).toBe('MISSED');
    expect(atMost('x', undefined, 2)).toEqual(['x', '≤ 2', '–', 'MISSED']);
  });

  it('pads tables, numbers to the right', () => {
    const text = tableText({ title: 'T', columns: ['name', 'ms'], rows: [['a', 1.234], ['long name'], ['b', 100]] });
    expect(text.split('\n').slice(2)).toEqual([
      '| name      |   ms |',
      '| --------- | ---: |',
      '| a         | 1.23 |',
      '| long name |      |',
      '| b         |  100 |',
      '',
    ]);
  });

  it('compares within turns: the median ratio, the least and the most, and calls a second the other way round', () => {
    const figures = (perSecond: number, cpuMs: number): BenchFigures => ({
      ...{ 'calls a second': perSecond, 'CPU of gateway and store, ms': cpuMs },
      ...{ 'added latency, ms': NaN, 'added to the first chunk, ms': NaN },
    });
    const turn = (that: BenchFigures, here: BenchFigures) =>
      new Map([
        ['abc1234', that],
        ['this tree', here],
      ]);
    const turns = [
      turn(figures(100, 1), figures(90, 1)),
      // The machine was slow in this turn, for both trees.
      turn(figures(10, 10), figures(9, 11)),
      turn(figures(100, 1), figures(120, 2)),
    ];
    const compared = compare('JSON', 32, turns, { that: 'abc1234', here: 'this tree' });
    expect(compared.map(({ figure, times, least, most }) => [figure, times, least, most])).toEqual([
      ['calls a second', 0.9, 0.9, 1.2],
      ['CPU of gateway and store, ms', 1.1, 1, 2],
    ]);
    expect(targetsOf({ name: 'abc1234', compared })).toEqual([
      ['JSON on 32: calls a second, times abc1234', '≥ 0.95', '0.90', 'MISSED'],
      ['JSON on 32: CPU of gateway and store, times abc1234', '≤ 1.05', '1.10', 'MISSED'],
    ]);
    const peer = '@portkey-ai/gateway@1.2.3';
    expect(targetsOf({ name: peer, compared })).toEqual([
      [`JSON on 32: calls a second, times ${peer}`, '≥ 1', '0.90', 'MISSED'],
    ]);
    expect(targetsOf({ name: 'fbd7c2b', compared })[1]?.[1]).toBe('≤ 0.65');
    const others = [
      { name: 'abc1234', compared },
      { name: peer, compared: compared.slice(0, 1) },
    ];
    expect(tableText(summaryOf('this tree', others))).toBe(`Side by side, medians of the turns

| calls | connections | figure                       | this tree | abc1234 | times | target | ${peer} | times | target |
| ----- | ----------: | ---------------------------- | --------: | ------: | ----: | ------ | ------------------------: | ----: | ------ |
| JSON  |          32 | calls a second               |        90 |     100 |  0.90 | ≥ 0.95 |                       100 |  0.90 | ≥ 1    |
| JSON  |          32 | CPU of gateway and store, ms |         2 |       1 |  1.10 | ≤ 1.05 |                           |       |        |
`);
  });

  it('refuses a section that it does not know', () => {
    expect(() => readOptions(['--only', 'weather'])).toThrow('--only takes latency, scale, load, memory');
    expect(readOptions(['--quick', '--json', 'x.json'])).toMatchObject({ isQuick: true, jsonFile: 'x.json' });
    expect(readOptions(['--against', 'main', '--portkey'])).toMatchObject({
      against: 'main',
      peers: { portkey: true },
    });
    expect(readOptions(['--litellm', 'venv'])).toMatchObject({ peers: { portkey: false, litellm: 'venv' } });
    expect(readOptions(['--only', 'busy', '--dynamodb', 'http://127.0.0.1:8000'])).toMatchObject({
      ...{ sections: ['busy'], dynamodb: 'http://127.0.0.1:8000', plan: { waiting: { calls: 1_000, waitMs: 10_000 } } },
    });
    expect(() => readOptions(['--against', 'main', '--only', 'load'])).toThrow('--against has no sections');
  });
});

it('a peer that is not installed is reported in a line, and nothing is started', async () => {
  const folder = temporaryFolder();
  const choice = { portkey: false, litellm: join(folder, 'venv') };
  await expect(startPeers(choice, 'http://127.0.0.1:1/v1', folder)).rejects.toThrow(
    /^--litellm: there is no .*bin\/litellm/,
  );
  expect(readdirSync(folder)).toEqual([]);
});

describeOnDynamo('the proxy before the store', () => {
  it('counts the units of batches and of refused writes, bytes of both bodies, and the table of each written item', async () => {
    const store = await startDynamoEngine();
    const proxy = await startStoreProxy(store.endpoint);
    // The engine checks no signature.
    const signedHeaders = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-date': '20260101T000000Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    };
    const send = async (operation: string, input: unknown) => {
      const body = JSON.stringify(input);
      const answer = await fetch(proxy.url, {
        method: 'POST',
        headers: { ...signedHeaders, 'x-amz-target': `DynamoDB_20120810.${operation}` },
        body,
      });
      return { status: answer.status, bytes: body.length + (await answer.text()).length };
    };
    const schema = {
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
    };
    const KeySchema = [{ AttributeName: 'pk', KeyType: 'HASH' }];
    for (const TableName of ['gw-local-a', 'gw-local-b'])
      await send('CreateTable', { ...schema, KeySchema, TableName });
    expect(await proxy.takeRequests(0)).toEqual([]);
    const put = (pk: string, text: string) => ({ PutRequest: { Item: { pk: { S: pk }, text: { S: text } } } });
    const batches = { 'gw-local-a': [put('1', 'x'.repeat(2_000)), put('2', 'y')], 'gw-local-b': [put('1', 'z')] };
    await send('BatchWriteItem', { RequestItems: batches });
    await send('GetItem', { TableName: 'gw-local-b', Key: { pk: { S: '1' } }, ConsistentRead: true });
    const refusal = await send('PutItem', {
      ...{ TableName: 'gw-local-a', Item: { pk: { S: '1' } } },
      ...{ ConditionExpression: 'attribute_not_exists(pk)', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
    });
    const [batch, read, write] = await proxy.takeRequests(0);
    expect(batch).toMatchObject({ writeUnits: 4, readUnits: 0 });
    expect(batch?.writtenTables.toSorted()).toEqual(['a', 'a', 'b']);
    expect(read).toMatchObject({ writeUnits: 0, readUnits: 1, writtenTables: [] });
    expect(refusal.status).toBe(400);
    expect(write).toMatchObject({ writeUnits: 2, readUnits: 0, writtenTables: ['a'], bytes: refusal.bytes });
    expect(await proxy.takeRequests(0)).toEqual([]);
    proxy.stop();
    await store.stop();
  });
});

describe('the scale model', () => {
  const item = { writes: 2, bytes: 500, bytesPerCallInFlight: 0 };
  type Measured = Parameters<typeof scaleReport>[0];
  const flat: Measured = { keys: item, ledger: item, limits: item, records: item, statistics: item };
  const carried = (measured: Measured) => scaleReport(measured).tables[1]?.rows.map((row) => row.slice(1));
  const verdicts = (measured: Measured) => scaleReport(measured).targets.map(([, ...judged]) => judged);

  it('gives what the items of a key and of its credit take, the same however long calls take, unless they fill an item', () => {
    expect(carried(flat)).toEqual(Array(3).fill([500, 500]));
    // 80 calls a second of 1 s make an item of 6,100 bytes: two writes of 6 units each are 960 units a second; 81 calls
    // would be 1,134.
    const growing = { ...flat, keys: { ...item, bytesPerCallInFlight: 70 } };
    expect(carried(growing)?.map(([key]) => key)).toEqual([80, 36, 15]);
    expect(carried(growing)?.map(([, credit]) => credit)).toEqual([500, 500, 500]);
  });

  it('judges by the one that carries less, and by the write units of a call', () => {
    expect(verdicts(flat)).toEqual([...Array(3).fill(['≥ 200', '500', 'met']), ['≤ 9.2', '10', 'MISSED']]);
    const dear = { ...flat, ledger: { ...item, writes: 20 } };
    expect(verdicts(dear).slice(0, 3)).toEqual(Array(3).fill(['≥ 200', '50', 'MISSED']));
  });
});

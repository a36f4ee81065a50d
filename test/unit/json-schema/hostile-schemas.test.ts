import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '#jest';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import {
  checkAnswer,
  checkResponseSchema,
  checkValue,
  startSchemaWork,
} from '../../../shared/protocol/json-schema/index.ts';
import {
  eventLoopMaxMs,
  schemaMaxBytes,
  schemaMaxDepth,
  workerCallMaxMs,
} from '../../../shared/protocol/json-schema/schema-bounds.ts';

const faultOf = async (schema: unknown): Promise<string | undefined> => (await checkResponseSchema(schema))?.message;

const nested = (levels: number, wrap: (inner: object, level: number) => object): object => {
  let schema: object = {};
  for (let level = 1; level < levels; level += 1) schema = wrap(schema, level);
  return schema;
};

/**
 * Returns a schema in which `d0` applies `d1` several times, which applies `d2` and so on: the work is `branches` to
 * the power of `steps`.
 */
const fanOut = (branches: number, steps: number): object => {
  const names = Array.from({ length: steps }, (_, step) => `d${step}`);
  const repeat = (step: number) => ({ allOf: new Array(branches).fill({ $ref: `#/$defs/d${step + 1}` }) });
  const $defs = Object.fromEntries(names.map((name, step) => [name, repeat(step)]));
  return { $ref: '#/$defs/d0', $defs: { ...$defs, [`d${steps}`]: { type: 'string' } } };
};

/** Calls `run` with about a tenth of the stack left. */
function withLittleStack<Value>(run: () => Value): Value {
  const descend = (frames: number): Value => (frames === 0 ? run() : descend(frames - 1));
  const measure = (frames: number): number => {
    try {
      return measure(frames + 1);
    } catch {
      return frames;
    }
  };
  return descend(Math.floor(measure(0) * 0.9));
}

/** Matches either bound, because it depends on the machine which of them is met first. */
const tooMuch = /too entangled|too much memory/;

describe('a hostile schema', () => {
  it('is refused one level beyond the depth, and 10,000 beyond', async () => {
    const deep = (levels: number) => nested(levels, (not) => ({ not }));
    expect(await faultOf(deep(schemaMaxDepth))).toBeUndefined();
    expect(await faultOf(deep(schemaMaxDepth + 1))).toContain('nest deeper');
    expect(await faultOf(deep(10_000))).toContain('nest deeper');
  });

  it('is refused one byte beyond the size', async () => {
    const sized = (bytes: number) => ({ $comment: 'x'.repeat(bytes - '{"$comment":""}'.length) });
    expect(await faultOf(sized(schemaMaxBytes))).toBeUndefined();
    expect(await faultOf(sized(schemaMaxBytes + 1))).toContain('larger than');
    // Each character has four bytes, and two characters in JavaScript.
    expect(await faultOf({ $comment: '💥'.repeat(schemaMaxBytes / 4) })).toContain('larger than');
  });

  /** Patterns with an optional separator, and with nested repetition. Each runs until its time limit. */
  const backtrackingPatterns = ['^(\\w+\\s?)*$', '^[(]key=((a+)+){1,9}[)]$'];

  it('is refused for each pattern that backtracks without end', async () => {
    const faults = backtrackingPatterns.map(async (pattern, index) => {
      const fault = await checkResponseSchema({ type: 'string', pattern }, startSchemaWork(`key ${index}`));
      return [pattern, fault?.message];
    });
    const reason = expect.stringContaining('at /pattern must be a regular expression that ends');
    expect(await Promise.all(faults)).toEqual(backtrackingPatterns.map((pattern) => [pattern, reason]));
  });

  it('is refused for such a pattern among property names', async () => {
    expect(await faultOf({ properties: { a: { patternProperties: { '(b+)+$': {} } } } })).toContain(
      'at /properties/a/patternProperties/(b+)+$ ',
    );
  });

  it('is refused when references double each other, though the first failure would end each of them', async () => {
    expect(await faultOf(fanOut(2, 5))).toBeUndefined();
    expect(await faultOf(fanOut(2, 40))).toMatch(tooMuch);
    expect(await faultOf(fanOut(50, 30))).toMatch(tooMuch);
    expect(await faultOf({ properties: { a: { $ref: '#' } } })).toBeUndefined();
  });

  it.each<[string, object]>([
    ['itself', { $ref: '#' }],
    ['itself by a dynamic name', { $dynamicAnchor: 'a', $dynamicRef: '#a' }],
    [
      'a cycle',
      { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } },
    ],
    ['a condition on itself', { if: { $ref: '#' }, else: false }],
  ])('is refused when it refers to %s without going on in the value', async (_name, schema) => {
    expect(await faultOf(schema)).toContain('too entangled');
  });

  it('that only a field leads back to itself ends with the answer that has it', async () => {
    const schema = { dependentSchemas: { a: { $ref: '#' } } };
    expect(await faultOf(schema)).toBeUndefined();
    expect(await checkAnswer(schema, '{"b":1}')).toMatchObject({ kind: 'valid' });
    expect(await checkAnswer(schema, '{"a":1}')).toMatchObject({
      kind: 'invalid',
      mismatch: '/: could not be checked: it recurses too deeply',
    });
  });

  it('is refused when its identifiers make resolving exponential', async () => {
    const schema = nested(30, (not, level) => ({ $id: `https://schemas.example/${level}`, not }));
    expect(await faultOf(schema)).toContain('too entangled');
  });

  it('is refused for a chain of references beyond the stack', async () => {
    const steps = 1_500;
    const link = (step: number) => [step, step === steps - 1 ? {} : { $ref: `#/$defs/${step + 1}` }];
    const schema = {
      $ref: '#/$defs/0',
      $defs: Object.fromEntries(Array.from({ length: steps }, (_, step) => link(step))),
    };
    // A thread's stack is larger than that of a process, so most of it is used up here.
    expect(await withLittleStack(() => faultOf(schema))).toContain('too entangled');
  });

  it('is not mistaken for one when it is only large', async () => {
    const schema = { anyOf: Array.from({ length: 3_000 }, (_, value) => ({ const: value })) };
    expect(await faultOf(schema)).toBeUndefined();
    expect(await checkAnswer(schema, '2999')).toMatchObject({ kind: 'valid' });
    expect(await checkAnswer(schema, '3000')).toMatchObject({ kind: 'invalid' });
  });
});

const overTime = {
  kind: 'invalid',
  problem: expect.stringContaining('could not be checked'),
  mismatch: '/: could not be checked against the schema in time',
  isUnchecked: true,
};

describe('a check that a hostile schema or answer drags out', () => {
  const deepAnswer = (levels: number) => `${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`;

  it('ends when branches double at every level of the answer', async () => {
    const again = { properties: { a: { $ref: '#' } } };
    const schema = {
      anyOf: [
        { ...again, required: ['b'] },
        { ...again, required: ['c'] },
      ],
    };
    expect(await faultOf(schema)).toBeUndefined();
    // Which bound the check meets first depends on how much of the stack the thread has left.
    const met = expect.stringMatching(/could not be checked(: it recurses too deeply| against the schema in time)$/);
    expect(await checkAnswer(schema, deepAnswer(60))).toEqual({ ...overTime, mismatch: met });
  });

  it('ends for a pattern that no probe has shown to be bad', async () => {
    const schema = { pattern: '^id:x*x*x*x*x*x*x*x*x*x*$' };
    expect(await faultOf(schema)).toBeUndefined();
    expect(await checkAnswer(schema, `"id:${'x'.repeat(1_000)}!"`)).toEqual(overTime);
    expect(await checkAnswer(schema, '"id:xx"')).toMatchObject({ kind: 'valid' });
  });

  it('sees of many items that all differ, and ends if one of them is repeated', async () => {
    // If each item were compared with each other, they would take seconds; 20,000 take 60 to 120 ms of a processor.
    const items = Array.from({ length: 6_000 }, (_, index) => ({ id: index, tags: [`t${index % 7}`] }));
    const schema = { properties: { items: { uniqueItems: true } } };
    expect(await checkAnswer(schema, JSON.stringify({ items }))).toMatchObject({ kind: 'valid' });
    const repeated = JSON.stringify({ items: [...items, { tags: ['t0'], id: 5_999 }] });
    expect(await checkAnswer(schema, repeated)).toMatchObject({ kind: 'invalid' });
    expect(await checkAnswer(schema, JSON.stringify({ items: [...items.slice(0, 9), items[2]] }))).toMatchObject({
      mismatch: '/items: uniqueItems',
    });
  });

  it('ends when every field meets a large list, and none of the list is repeated', async () => {
    const schema = { additionalProperties: { enum: ['x'.repeat(60_000)], const: { y: 'y'.repeat(1_000) } } };
    const answer = JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [index, 0])));
    const result = await checkAnswer(schema, answer);
    expect(result.kind).toBe('invalid');
    expect(JSON.stringify(result)).not.toMatch(/xx|yy/);
  });

  it('leaves the next check unharmed', async () => {
    const bad = { pattern: '(a|aa)*$' };
    expect(await faultOf(bad)).toBeDefined();
    expect(await checkAnswer({ type: 'integer' }, '1')).toEqual({ kind: 'valid', text: '1' });
  });
});

/** Returns the turns of the event loop while the work is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await nextTurn();
    turns += 1;
  }
  return turns;
}

describe('work that takes long', () => {
  const backtracking = { pattern: '^(a+)+$' };
  /**
   * From four repetitions on the pattern goes to a worker, whatever the time. Compiling 60 takes some hundred
   * milliseconds that nothing can interrupt.
   */
  const heavy = (times: number) => ({ pattern: '[^\\p{L}\\p{C}]'.repeat(times) });
  const heavyPattern = heavy(4);
  const slowAnswer = `"id:${'x'.repeat(1_000)}!"`;
  const slow = { pattern: '^id:x*x*x*x*x*x*x*x*x*x*$' };

  it.each<[string, () => Promise<unknown>]>([
    ['a pattern that is compiled slowly', () => checkResponseSchema(heavy(149), startSchemaWork('b'))],
    ['an answer to such a pattern', () => checkAnswer(heavy(148), '"a"', startSchemaWork('c'))],
    ['an answer that is checked slowly', () => checkAnswer(slow, slowAnswer, startSchemaWork('d'))],
  ])('leaves the event loop to others: %s', async (_name, start) => {
    expect(await turnsDuring(start())).toBeGreaterThan(20);
  });

  it('is the same work wherever it is done', async () => {
    const work = startSchemaWork('e');
    expect(await checkResponseSchema({ ...heavyPattern }, work)).toBeUndefined();
    expect(work.workerMs).toBeGreaterThan(0);
    const schema = { ...heavyPattern };
    const text = JSON.stringify('1'.repeat(60));
    expect(await checkAnswer(schema, `\`\`\`json\n${text}\n\`\`\``)).toEqual({ kind: 'valid', text });
    expect(await checkAnswer(schema, '"a"')).toMatchObject({
      kind: 'invalid',
      problem: expect.stringContaining('root'),
    });
    expect(await checkValue(schema, '1'.repeat(60))).toBeUndefined();
    expect(await checkValue(schema, 'a')).toMatchObject({ path: '', message: expect.any(String) });
    const faulty = { allOf: [heavyPattern, { type: 'strin' }] };
    expect((await checkResponseSchema(faulty))?.message).toContain('at /allOf/1/type');
    await expect(checkAnswer(faulty, '1')).rejects.toThrow('has a fault');
  });

  it('of one key is done one by one, and does not keep another key waiting for all of it', async () => {
    const done: string[] = [];
    const check = async (owner: string) => {
      await checkResponseSchema({ ...backtracking }, startSchemaWork(owner));
      done.push(owner);
    };
    await Promise.all([...Array.from({ length: 2 }, () => check('hostile')), check('other')]);
    expect(done).toHaveLength(3);
    expect(done.slice(0, 2)).toContain('other');
  });

  it('that is ordinary is done while a hostile schema of the same key is in a worker', async () => {
    const hostile = checkResponseSchema({ ...backtracking }, startSchemaWork('same'));
    const done: string[] = [];
    const note = (what: string) => () => done.push(what);
    // There are several checks, because the machine may pause this process in the middle of one, which then goes to the
    // worker too.
    const ordinary = Array.from({ length: 5 }, () => checkResponseSchema({ type: 'object' }, startSchemaWork('same')));
    await Promise.all([hostile.then(note('hostile')), ...ordinary.map((check) => check.then(note('ordinary')))]);
    expect(done.indexOf('hostile')).toBeGreaterThan(0);
    expect(done).toHaveLength(1 + ordinary.length);
  });

  it('of one key waits in a line of bounded length, and only that key is refused beyond it', async () => {
    const start = (owner: string, times = 60) => checkResponseSchema(heavy(times), startSchemaWork(owner));
    // One check runs and a hundred wait.
    const line = Array.from({ length: 101 }, () => start('crowded'));
    // All of them have joined the queue before the next ones do.
    await Promise.race(line);
    const joining = Array.from({ length: 101 }, () => start('crowded'));
    const rejections = (await Promise.allSettled(joining)).filter(({ status }) => status === 'rejected');
    expect(rejections.length).toBeGreaterThan(0);
    expect(rejections[0]).toMatchObject({ reason: { code: 'RATE_LIMITER_UNAVAILABLE', exhausted: 'schema_workers' } });
    expect(await start('other', 4)).toBeUndefined();
    await Promise.all(line);
  });

  it('ends for a call that has used up its time in workers', async () => {
    const work = { ...startSchemaWork('f'), workerMs: workerCallMaxMs, eventLoopMs: eventLoopMaxMs };
    expect(await checkAnswer({ ...slow }, slowAnswer, work)).toEqual(overTime);
  });
});

describe('many distinct schemas', () => {
  it('leave nothing behind, though all have the same $id', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const references: WeakRef<object>[] = [];
    for (let index = 0; index < 150; index += 1) {
      const schema = { $id: 'https://schemas.example/same', properties: { [`p${index}`]: { const: index } } };
      expect(await checkAnswer(schema, `{"p${index}":${index}}`)).toMatchObject({ kind: 'valid' });
      references.push(new WeakRef(schema));
    }
    // A weak reference keeps its object until the turn of the event loop has ended.
    await nextTurn();
    collectGarbage();
    const aliveCount = references.filter((reference) => reference.deref() !== undefined).length;
    expect(aliveCount).toBeLessThan(10);
  });
});

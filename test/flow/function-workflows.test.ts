// Workflows through the front door: which steps run when, what they see, and who pays for them when one fails.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { summarizeUsage } from '../../shared/accounting/reports/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { answerOf, ask, jsonSchema, modelsFor, receivedIn, step, workflow } from '../support/function-calls.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

const behaviours = [
  'echo',
  'echo-request',
  'refusal',
  'silent',
  'error-500',
  'invalid-json',
  'usage:1000:500',
  'usage:10:20',
  'usage:3:1',
];
const on = (behaviour: string, more = {}) => ({ model: `acme/${behaviour}`, ...more });
const labelled = jsonSchema({
  type: 'object',
  properties: { label: { type: 'string', const: 'bug' } },
  required: ['label'],
});

/** Holds its answers until two calls are there: a gateway that sends one after the other would wait for ever. */
async function startMeetingPlace(): Promise<ScriptedProvider> {
  const waiting: (() => void)[] = [];
  const provider = await startScriptedProvider((outgoing) => {
    const { messages } = JSON.parse(provider.bodies.at(-1) ?? '') as { messages: { content: string }[] };
    const said = messages.at(-1)?.content ?? '';
    const reply = () => sendJson(outgoing, completionOf({ content: `<${said}>` }));
    if (said.startsWith('join')) return reply();
    waiting.push(reply);
    if (waiting.length === 2) for (const each of waiting.splice(0)) each();
  });
  return provider;
}

const functions = [
  workflow(
    'meeting',
    [
      step('join', 'join {{steps.left.output}} {{steps.right.output}} {{input.x}}', { model: 'acme/meeting' }),
      step('left', 'left {{input.x}}', { model: 'acme/meeting' }),
      step('right', 'right {{input.x}}', { model: 'acme/meeting' }),
    ],
    'Result: {{steps.join.output}}; first {{steps.left.output}}',
  ),
  workflow(
    'costs',
    [
      step('a', '{{input.x}}', on('usage:1000:500')),
      step('b', '{{input.x}}', on('usage:10:20')),
      step('c', '{{steps.a.output}} {{steps.b.output}}', on('usage:3:1')),
    ],
    { step: 'c' },
  ),
  workflow(
    'structured',
    [
      step('label', '{{input.x}}', { response_format: labelled }),
      step('use', 'The label is {{steps.label.output.label}}, all of it {{steps.label.output}}', on('echo-request')),
    ],
    { step: 'use' },
  ),
  workflow(
    'backed',
    [
      step('a', '{{input.x}}', on('error-500', { fallback_models: ['acme/usage:10:20'] })),
      step('b', '{{steps.a.output}}', on('usage:3:1')),
    ],
    { step: 'b' },
  ),
  workflow('unwilling', [step('a', '{{input.x}}', on('refusal', { fallback_models: ['acme/usage:10:20'] }))], {
    step: 'a',
  }),
  workflow('refusing', [step('a', '{{input.x}}', on('refusal')), step('b', '{{steps.a.output}}')], { step: 'b' }),
  workflow(
    'broken',
    [
      step('a', '{{input.x}}', on('usage:1000:500')),
      step('b', '{{steps.a.output}}', on('error-500')),
      step('c', '{{steps.b.output}}', on('usage:10:20')),
    ],
    { step: 'c' },
  ),
  workflow(
    'split',
    [
      step('a', '{{input.x}}', on('silent')),
      step('b', '{{input.x}}', on('error-500')),
      step('c', '{{steps.a.output}}'),
    ],
    { step: 'c' },
  ),
  workflow(
    'prose',
    [
      step('a', '{{input.x}}', on('usage:1000:500', { response_format: { type: 'json_object' } })),
      step('b', '{{steps.a.output.missing}}'),
    ],
    { step: 'b' },
  ),
];

describe('a workflow', () => {
  let harness: Harness;
  let meeting: ScriptedProvider;

  beforeAll(async () => {
    meeting = await startMeetingPlace();
    harness = await startHarness({
      models: { ...modelsFor(behaviours), 'acme/meeting': [{ provider: 'meeting', upstream: 'meeting' }] },
      providers: { meeting: { base_url: meeting.url } },
      workspace: { functions },
    });
  });
  afterAll(async () => {
    await harness.stop();
    await meeting.stop();
  });
  beforeEach(() => harness.simulator.clear());

  const run = (id: string, more = {}) => harness.post(ask(id, { x: 'X' }, more));
  const called = () => harness.simulator.calls.map(({ model }) => model);
  const spentBy = async (work: () => Promise<void>): Promise<bigint> => {
    await harness.settled();
    const { spent } = await harness.credit();
    await work();
    await harness.settled();
    return (await expectBalancedBooks(harness)) - spent;
  };

  it('has its independent steps at the provider at the same time, and the joining one sees both answers', async () => {
    const { content, body, gw, usage } = await answerOf(await run('meeting'));
    const joined = '<join <left X> <right X> X>';
    expect(content).toBe(`Result: ${joined}; first <left X>`);
    const said = meeting.bodies.map((text) => (JSON.parse(text) as { messages: { content: string }[] }).messages);
    expect(said.map(([message]) => message?.content).toSorted()).toEqual([joined.slice(1, -1), 'left X', 'right X']);
    expect(said[2]).toEqual([{ role: 'user', content: joined.slice(1, -1) }]);
    expect(body).toMatchObject({ object: 'chat.completion', model: 'gw/function/meeting' });
    expect(body.choices).toMatchObject([{ index: 0, finish_reason: 'stop', message: { role: 'assistant' } }]);
    expect(gw).toMatchObject({ function_id: 'meeting', revision_id: 'r1', fallback_used: false });
    expect(usage).toMatchObject({ attempts: 3, prompt_tokens: 30, completion_tokens: 15, total_tokens: 45 });
  });

  it('answers with the usage and the cost of all its provider calls, and is charged exactly that', async () => {
    const spent = await spentBy(async () => {
      const { usage, headers } = await answerOf(await run('costs'));
      expect(usage).toMatchObject({
        prompt_tokens: 1013,
        completion_tokens: 521,
        total_tokens: 1534,
        // 1013 at 1.00 and 521 at 2.00 per million.
        cost: 0.002055,
        cost_usd: '0.002055',
        cost_details: { upstream_inference_prompt_cost: 0.001013, upstream_inference_completions_cost: 0.001042 },
        is_byok: false,
        attempts: 3,
        cache_hit: false,
        provider: 'acme',
        model: 'acme/usage:3:1',
      });
      expect(usage).not.toHaveProperty('estimated');
      expect(headers.get('server-timing')).toMatch(/^gw;dur=\d+(\.\d+)?$/);
      // No single model answered.
      expect([headers.get('x-gw-model'), headers.get('x-gw-provider')]).toEqual([null, null]);
    });
    expect(spent).toBe(2_055_000_000n);
    expect(called().toSorted()).toEqual(['usage:1000:500', 'usage:10:20', 'usage:3:1']);
    expect(called().at(-1)).toBe('usage:3:1');
  });

  it('hands a part of a structured answer to the next step, and user and metadata to each', async () => {
    const passed = { user: 'u', metadata: { k: 'v' } };
    const { body } = receivedIn(await answerOf(await run('structured', passed)));
    expect(body.messages).toEqual([{ role: 'user', content: 'The label is bug, all of it {"label":"bug"}' }]);
    expect(harness.simulator.calls).toHaveLength(2);
    for (const call of harness.simulator.calls) expect(call.body).toMatchObject(passed);
  });

  it('says so where a fallback model produced a part of it', async () => {
    const { gw, usage } = await answerOf(await run('backed'));
    expect(gw.fallback_used).toBe(true);
    expect(usage).toMatchObject({ attempts: 3, prompt_tokens: 13, completion_tokens: 21 });
    expect(called()).toEqual(['error-500', 'usage:10:20', 'usage:3:1']);
  });

  it('asks the fallback model of a step whose model refuses, and pays both', async () => {
    const spent = await spentBy(async () => {
      const { gw, usage } = await answerOf(await run('unwilling'));
      expect(gw.fallback_used).toBe(true);
      expect(usage.attempts).toBe(2);
      expect(Number(usage.prompt_tokens)).toBeGreaterThan(10);
    });
    // More than the second answer alone.
    expect(spent).toBeGreaterThan(50_000_000n);
    expect(called()).toEqual(['refusal', 'usage:10:20']);
  });

  it.each([
    ['whose provider fails', 'broken', ['usage:1000:500', 'error-500'], 2_000_000_000n],
    ['whose answer lacks what the next one needs', 'prose', ['usage:1000:500'], 2_000_000_000n],
  ])('fails with a step %s: nothing more is started, and what was done is paid', async (_name, id, calls, cost) => {
    const spent = await spentBy(async () => {
      await expectError(await run(id), 502, 'execution_failed');
    });
    expect(called()).toEqual(calls);
    expect(spent).toBe(cost);
    const [record] = (await harness.records()).toReversed();
    expect(record).toMatchObject({ functionId: id, revisionId: 'r1', outcome: 'execution_failed', costPicoUsd: cost });
    expect(record?.attempts).toBe(calls.length);
  });

  it('is recorded with what each model of each provider answered, and what the first ones did is not lost in the last', async () => {
    await answerOf(await run('unwilling'));
    await harness.settled();
    const [record] = (await harness.records()).toReversed();
    expect(record).toMatchObject({ functionId: 'unwilling', attempts: 2 });
    const [other, ...more] = record?.otherShares ?? [];
    expect(more).toEqual([]);
    expect(other?.model).not.toBe(record?.modelServed);
    expect(record?.attemptLog?.map(({ model }) => model)).toEqual([other?.model, record?.modelServed]);
    const { groups } = await summarizeUsage([record as NonNullable<typeof record>], 'model');
    expect(new Set(groups.map(({ group }) => group))).toEqual(new Set([other?.model, record?.modelServed]));
    expect(groups.every(({ calls, promptTokens }) => calls === 1 && promptTokens > 0n)).toBe(true);
  });

  it('fails with a step that refuses and has no fallback, and hands no refusal on', async () => {
    await expectError(await run('refusing'), 502, 'execution_failed');
    expect(called()).toEqual(['refusal']);
  });

  it('stops the steps beside the one that failed, and does not wait for their providers', async () => {
    const spent = await spentBy(async () => {
      await expectError(await run('split'), 502, 'execution_failed');
    });
    await harness.simulator.until((calls) => calls.some(({ model, closedEarly }) => model === 'silent' && closedEarly));
    expect(called().toSorted()).toEqual(['error-500', 'silent']);
    expect(spent).toBe(0n);
  });
});

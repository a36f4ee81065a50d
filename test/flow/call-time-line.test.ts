// The parts of a call in its record: when each part began and how long it took, on a clock that guardrails and
// providers move.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { callDocument } from '../../shared/accounting/call-records/index.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { type ScriptedGuardrail, startScriptedGuardrail } from '../support/scripted-guardrail.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

const answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

describe('the time line of a call', () => {
  const plainKey = newKey();
  let clock: ManualClock;
  let guardrail: ScriptedGuardrail;
  let failing: ScriptedProvider;
  let answering: ScriptedProvider;
  let harness: Harness;

  beforeAll(async () => {
    clock = manualClock();
    guardrail = await startScriptedGuardrail();
    failing = await startScriptedProvider((outgoing) => {
      clock.advance(200);
      outgoing.writeHead(500, { 'content-type': 'application/json' }).end('{}');
    });
    answering = await startScriptedProvider((outgoing) => {
      clock.advance(500);
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    const rules = { kind: 'http', url: guardrail.url, on: ['input', 'output'], timeout_ms: 20_000 };
    harness = await startHarness({
      clock,
      providers: { failing: { base_url: failing.url }, answering: { base_url: answering.url } },
      models: {
        'both/fallback': [
          { provider: 'failing', upstream: 'm', more: { input_price_per_million: '0.01' } },
          { provider: 'answering', upstream: 'm' },
        ],
      },
      guardrails: [{ id: 'words', ...rules }],
      workspace: { guardrails: ['words'] },
      moreWorkspaces: [{ id: 'plain', credit_usd: '1', keys: [{ name: 'plain', key: plainKey }] }],
    });
  });
  beforeEach(() => guardrail.clear());
  afterAll(async () => {
    await harness.stop();
    await Promise.all([guardrail.stop(), failing.stop(), answering.stop()]);
  });

  async function timeLineAfter(response: Response, workspace = 'team') {
    await response.text();
    await harness.settled();
    const id = response.headers.get('x-request-id');
    const record = await harness.composition.records.find(workspace, id ?? '');
    if (record === undefined) throw new Error('the call has no record');
    return callDocument(record).time_line;
  }

  const ask = (authorization?: string) =>
    harness.post(
      hello('both/fallback', { provider: { order: ['failing', 'answering'] } }),
      authorization === undefined ? {} : { authorization },
    );

  it('has admission, each guardrail, each attempt and settlement where they happened', async () => {
    guardrail.answer(({ direction }) => {
      clock.advance(direction === 'input' ? 30 : 40);
      return { action: 'pass' };
    });
    const response = await ask();
    expect(response.status).toBe(200);
    expect(await timeLineAfter(response)).toEqual([
      { part: 'admission', start_ms: 0, ms: 30 },
      { part: 'guardrail', at: 0, start_ms: 0, ms: 30 },
      { part: 'guardrail', at: 1, start_ms: 730, ms: 40 },
      { part: 'attempt', at: 0, start_ms: 30, ms: 200 },
      { part: 'attempt', at: 1, start_ms: 230, ms: 500 },
      { part: 'settlement', start_ms: 770, ms: 0 },
    ]);
  });

  it('has no guardrail if none checks, and no attempt and no settlement of a call that was refused', async () => {
    expect(await timeLineAfter(await ask(`Bearer ${plainKey}`), 'plain')).toEqual([
      { part: 'admission', start_ms: 0, ms: 0 },
      { part: 'attempt', at: 0, start_ms: 0, ms: 200 },
      { part: 'attempt', at: 1, start_ms: 200, ms: 500 },
      { part: 'settlement', start_ms: 700, ms: 0 },
    ]);
    expect(guardrail.questions).toEqual([]);
    guardrail.answer(() => {
      clock.advance(25);
      return { action: 'block', message: 'No.' };
    });
    const callsBefore = answering.bodies.length;
    const refusal = await ask();
    expect(refusal.status).toBe(400);
    expect(await timeLineAfter(refusal)).toEqual([
      { part: 'admission', start_ms: 0, ms: 25 },
      { part: 'guardrail', at: 0, start_ms: 0, ms: 25 },
    ]);
    expect(answering.bodies.length).toBe(callsBefore);
  });
});

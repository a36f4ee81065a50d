// Guardrails of Amazon Bedrock, through the front door: the SDK in the process calls the simulator's ApplyGuardrail.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, type ServedGateway, startHarness } from '../support/harness.ts';

interface Applied {
  readonly source: string;
  readonly content: readonly { readonly text: { readonly text: string } }[];
}

const secretKey = 'a-secret-access-key-of-the-test';
const message = 'This guardrail lets nothing pass that is called forbidden.';

describe('guardrails of Bedrock', () => {
  const variables: Record<string, string> = {
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: secretKey,
  };
  const former = new Map<string, string | undefined>();
  const lenientKey = newKey();
  let harness: Harness;
  let gateway: ServedGateway;

  beforeAll(async () => {
    const rules = { kind: 'bedrock', guardrail: 'abc123def456', version: '7', region: 'eu-west-1', timeout_ms: 30_000 };
    harness = await startHarness({
      models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
      guardrails: [
        { id: 'pii', ...rules, unit_prices: { contentPolicyUnits: '0.15', wordPolicyUnits: '0.10' } },
        { id: 'lenient', ...rules, on_failure: 'pass' },
      ],
      workspace: { guardrails: ['pii'] },
      moreWorkspaces: [
        { id: 'lenient', credit_usd: '10', guardrails: ['lenient'], keys: [{ name: 'lenient', key: lenientKey }] },
      ],
    });
    variables.AWS_ENDPOINT_URL_BEDROCK_RUNTIME = new URL(harness.simulator.url).origin;
    for (const name of [...Object.keys(variables), 'AWS_PROFILE']) former.set(name, process.env[name]);
    delete process.env.AWS_PROFILE;
    Object.assign(process.env, variables);
  });
  afterAll(async () => {
    for (const [name, value] of former) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await harness.stop();
  });
  beforeEach(async () => {
    harness.simulator.clear();
    // A process writes only a few records of refused calls a second, so each test has a gateway of its own.
    gateway = await harness.open();
  });

  const ask = (content: string, more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    gateway.post({ ...hello('acme/echo', more), messages: [{ role: 'user', content }] }, headers);
  const applyCalls = () => harness.simulator.calls.filter(({ path }) => path.endsWith('/apply'));
  const bodies = () => applyCalls().map(({ body }) => body as unknown as Applied);
  const provided = () => harness.simulator.calls.filter(({ format }) => format !== null);
  const checksOf = async (answer: Response, workspace?: string) => {
    await gateway.settled();
    const id = answer.headers.get('x-request-id');
    return (await harness.records(workspace)).find(({ correlationId }) => correlationId === id)?.guardrails;
  };
  const contentIn = (text: string) =>
    (JSON.parse(text) as { choices: [{ message: { content: string }; finish_reason: string }] }).choices[0];

  it('are asked about input and output, signed, and say what the checks cost', async () => {
    const answer = await ask('hello');
    expect(answer.status).toBe(200);
    const { message } = contentIn(await answer.text());
    expect(bodies()).toEqual([
      { source: 'INPUT', content: [{ text: { text: 'hello' } }] },
      { source: 'OUTPUT', content: [{ text: { text: message.content } }] },
    ]);
    for (const { path, headers } of applyCalls()) {
      expect(path).toBe('/guardrail/abc123def456/version/7/apply');
      expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\//);
    }
    const billed = { checks: 1, ms: expect.any(Number), units: 3, costPicoUsd: 250_000_000n };
    expect(await checksOf(answer)).toEqual([
      { id: 'pii', direction: 'input', action: 'pass', ...billed },
      { id: 'pii', direction: 'output', action: 'pass', ...billed },
    ]);
  });

  it('block with their own message: no provider is called, and the check is in the record', async () => {
    await harness.settled();
    const before = await harness.credit();
    const refusal = await ask('a forbidden thing');
    const error = await expectError(refusal, 400, 'invalid_request', { reason: 'content_policy_violation' });
    expect(error.message).toContain(message);
    expect(provided()).toEqual([]);
    expect(await harness.credit()).toEqual(before);
    expect(await checksOf(refusal)).toEqual([
      expect.objectContaining({ id: 'pii', direction: 'input', action: 'block', units: 3 }),
    ]);
  });

  it('mask what they name: the provider never sees it', async () => {
    const answer = await ask('write to me@acme.io today');
    expect(answer.status).toBe(200);
    expect(provided().map(({ bodyText }) => bodyText)).toEqual([expect.stringContaining('write to {EMAIL} today')]);
    expect(provided()[0]?.bodyText).not.toContain('me@acme.io');
    expect(await checksOf(answer)).toEqual([
      expect.objectContaining({ direction: 'input', action: 'mask' }),
      expect.objectContaining({ direction: 'output', action: 'pass' }),
    ]);
  });

  it('check a stream in windows', async () => {
    const text = await (await ask('hello there', { stream: true })).text();
    expect(text).toContain('[DONE]');
    const sources = bodies().map(({ source }) => source);
    expect(sources[0]).toBe('INPUT');
    expect(sources.slice(1).length).toBeGreaterThan(0);
    expect(new Set(sources.slice(1))).toEqual(new Set(['OUTPUT']));
  });

  it('block if they fail: no provider is called', async () => {
    const refusal = await ask('guardrail-fails');
    const error = await expectError(refusal, 503, 'RATE_LIMITER_UNAVAILABLE');
    expect(error.message).toContain('pii');
    expect(applyCalls()).toHaveLength(1);
    expect(provided()).toEqual([]);
    expect(await checksOf(refusal)).toEqual([expect.objectContaining({ direction: 'input', action: 'failed' })]);
  });

  it('let pass if they fail and the file says so', async () => {
    const answer = await ask('guardrail-fails', {}, { authorization: `Bearer ${lenientKey}` });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(provided()).toHaveLength(1);
    expect((await checksOf(answer, 'lenient'))?.[0]).toMatchObject({ id: 'lenient', action: 'failed' });
  });

  describe('of long texts', () => {
    const filler = (characters: number) => 'lorem '.repeat(Math.ceil(characters / 6)).slice(0, characters);
    const long = (word: string) => `${filler(30_000)} ${word} ${filler(20_000)}`;

    it('see all of it, in pieces that overlap', async () => {
      const text = long('hello');
      expect((await ask(text)).status).toBe(200);
      const pieces = bodies()
        .filter(({ source }) => source === 'INPUT')
        .flatMap(({ content }) => content.map((one) => one.text.text));
      expect(pieces.length).toBeGreaterThan(2);
      for (const piece of pieces) {
        expect(piece.length).toBeLessThanOrEqual(20_000);
        expect(text).toContain(piece);
      }
      const characterCount = pieces.reduce((sum, piece) => sum + piece.length, 0);
      expect(characterCount).toBe(text.length + 1_000 * (pieces.length - 1));
      expect(provided()[0]?.bodyText).toContain(text);
    });

    it('block for one word in a piece, and mask one in its place', async () => {
      const refusal = await ask(long('forbidden'));
      await expectError(refusal, 400, 'invalid_request', { reason: 'content_policy_violation' });
      expect(provided()).toEqual([]);
      const answer = await ask(long('me@acme.io'));
      expect(answer.status).toBe(200);
      expect(provided()[0]?.bodyText).toContain(long('{EMAIL}'));
    });

    it('block a mask in what two pieces share', async () => {
      const refusal = await ask(`${filler(19_500)} me@acme.io ${filler(10_000)}`);
      await expectError(refusal, 400, 'invalid_request', { reason: 'content_policy_violation' });
      expect(provided()).toEqual([]);
    });
  });

  it('leave no text and no credential in records and logs', async () => {
    for (const words of ['forbidden', 'me@acme.io', 'guardrail-fails'])
      await (await ask(`private-word ${words}`)).text();
    await gateway.settled();
    const records = JSON.stringify(await harness.records(), (_name, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    );
    const lines = harness.logLines.join('');
    expect(lines).toContain('guardrail_failed');
    for (const text of [records, lines]) {
      expect(text).not.toMatch(/private-word|me@acme\.io/);
      expect(text).not.toContain(secretKey);
      expect(text).not.toContain('AKIDEXAMPLE');
    }
  });
});

// A provider that reports usage early, and goes on: what it relays after its report is charged too.
import { afterAll, beforeAll, expect, it } from '#jest';
import { type Harness, hello } from '../support/harness.ts';
import { startScriptedGateway } from '../support/scripted-provider.ts';
import { eventually } from '../support/watched-clock.ts';

let scripted: Awaited<ReturnType<typeof startScriptedGateway>>;
let gateway: Harness;
let script: { readonly lines: readonly object[]; readonly isCut: boolean };

beforeAll(async () => {
  scripted = await startScriptedGateway((outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const line of script.lines) outgoing.write(`data: ${JSON.stringify(line)}\n\n`);
    // Only once all of it is out: a destroyed socket takes along what waits in it.
    outgoing.write('', () => (script.isCut ? outgoing.destroy() : outgoing.end('data: [DONE]\n\n')));
  });
  gateway = scripted.gateway;
});
afterAll(() => scripted.stop());

const early = { prompt_tokens: 10, completion_tokens: 1 };
const delta = (content: string, more = {}) => ({ choices: [{ index: 0, delta: { content } }], ...more });
const end = (more = {}) => ({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...more });
const forty = Array.from({ length: 40 }, () => delta('ten bytes.'));

async function usageOf(lines: readonly object[]): Promise<Record<string, unknown>> {
  script = { lines, isCut: false };
  const response = await gateway.post(hello('acme/model', { stream: true, usage: { include: true } }));
  const chunks = (await response.text())
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as { usage?: Record<string, unknown> });
  return chunks.at(-1)?.usage ?? {};
}

it('counts what came after the report by its bytes, and says that it is an estimate', async () => {
  // 1 reported, 400 bytes at four a token behind it.
  const usage = await usageOf([delta('a', { usage: early }), ...forty, end()]);
  expect(usage).toMatchObject({ cost_usd: String((10 * 1 + 101 * 2) / 1_000_000), estimated: true });
});

it('takes the last report at its word where nothing came after it', async () => {
  const last = { prompt_tokens: 10, completion_tokens: 60 };
  const usage = await usageOf([delta('a', { usage: early }), ...forty, end({ usage: last })]);
  expect(usage).toMatchObject({ cost_usd: String((10 * 1 + 60 * 2) / 1_000_000) });
  expect(usage).not.toHaveProperty('estimated');
});

it.each([
  ['one early report', [delta('a', { usage: early }), ...forty], 101],
  ['zeros with every chunk', forty.map((chunk) => ({ ...chunk, usage: { ...early, completion_tokens: 0 } })), 100],
])('charges a stream that broke for what was relayed, whatever it reported: %s', async (_name, lines, tokens) => {
  script = { lines, isCut: true };
  const credit = () => gateway.composition.credit.show({ workspace: 'team', spendLimit: null });
  await eventually(async () => (await credit()).held === 0n);
  const before = (await credit()).spent;
  const response = await gateway.post(hello('acme/model', { stream: true }));
  expect(await response.text()).toContain('no_available_provider');
  await eventually(async () => (await credit()).held === 0n);
  expect((await credit()).spent - before).toBe(BigInt(10 * 1 + tokens * 2) * 1_000_000n);
});

it('is whole once every choice has finished, however the connection then ends', async () => {
  script = { lines: [delta('Hello'), end({ usage: early })], isCut: true };
  const response = await gateway.post(hello('acme/model', { stream: true }), { 'idempotency-key': 'a-whole-stream' });
  const text = await response.text();
  expect(text).not.toContain('error');
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  await gateway.settled();
  expect((await gateway.records()).at(-1)).toMatchObject({ outcome: 'ok' });
  const calls = scripted.provider.bodies.length;
  const again = await gateway.post(hello('acme/model', { stream: true }), { 'idempotency-key': 'a-whole-stream' });
  expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', text]);
  expect(scripted.provider.bodies).toHaveLength(calls);
});

it('keeps the counts of a report when a later one has none', async () => {
  const usage = await usageOf([
    delta('a'),
    end({ usage: { prompt_tokens: 10, completion_tokens: 60 } }),
    end({ usage: {} }),
  ]);
  expect(usage).toMatchObject({ cost_usd: String((10 * 1 + 60 * 2) / 1_000_000) });
  expect(usage).not.toHaveProperty('estimated');
});

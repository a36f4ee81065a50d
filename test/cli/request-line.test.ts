// The output of `npm start` about calls: a line for each call, or JSON, or nothing.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { createTerminalLog } from '../../infra/local/terminal-log.ts';
import { fail } from '../../shared/errors/index.ts';
import { startCollector } from '../support/collector.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestSimulator } from '../support/test-simulator.ts';

const folder = temporaryFolder();

/** Waits for output after the ready line. Each round is a request, so the output has time to come through its pipe. */
async function printedLine(gateway: RunningGateway, pattern: RegExp): Promise<string> {
  const all = () => `${gateway.out()}\n${gateway.error()}`;
  while (pattern.exec(all()) === null) await (await fetch(`${gateway.url}/models`)).text();
  return pattern.exec(all())?.[1] ?? '';
}

const keyOf = (gateway: RunningGateway) => printedLine(gateway, /^demo key: (\S+)$/m);

async function call(gateway: RunningGateway, model: string, more: object = {}): Promise<string> {
  const response = await fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await keyOf(gateway)}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...more }),
  });
  await response.text();
  return response.headers.get('x-request-id') ?? '';
}

/** Standard error comes through a pipe, a moment after the answer. */
async function lineWith(output: () => string, id: string, gateway: RunningGateway): Promise<string> {
  const find = () =>
    output()
      .split('\n')
      .filter((line) => line.includes(id))
      .at(-1);
  // Each round is a request, so this loop ends only when the line is there or the test times out.
  while (find() === undefined) await (await fetch(`${gateway.url}/models`)).text();
  return find() ?? '';
}

const time = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ';

describe('npm start', () => {
  it('writes one readable line per request to standard error, without colours into a pipe', async () => {
    const gateway = await startGateway('', folder);
    try {
      const id = await call(gateway, 'demo/fallback', { stream: true });
      const line = await lineWith(gateway.error, id, gateway);
      const first =
        gateway
          .error()
          .split('\n')
          .find((written) => written.includes(id)) ?? '';
      expect(first).toMatch(
        new RegExp(`^${time}  globex status_500  demo/fallback  it says: server_error: .*  ${id}$`),
      );
      await lineWith(() => gateway.error().replace(first, ''), id, gateway);
      const last = gateway
        .error()
        .split('\n')
        .filter((written) => written.includes(id))
        .at(-1);
      expect(last).toMatch(
        new RegExp(
          `^${time}  200 ok  stream  demo/fallback  globex status_500 → acme  \\d+ ms \\(first \\d+\\)  1\\+46 tokens  0.00004625 USD  demo/demo  ${id}$`,
        ),
      );
      expect(line).not.toContain('\u001b');
      const refusalLine = await lineWith(gateway.error, await call(gateway, 'demo/none'), gateway);
      expect(refusalLine).toMatch(new RegExp(`^${time}  400 unknown_model  demo/none  \\d+ ms  demo/demo  `));
      expect(gateway.error()).toMatch(new RegExp(`^${time}  401 UNAUTHORIZED  GET /v1/models  \\d+ ms  `, 'm'));
      // Standard output has only what a start prints, and nothing about requests.
      expect(gateway.out()).not.toContain(id);
      expect(gateway.error()).not.toContain(await keyOf(gateway));
    } finally {
      await gateway.stop();
    }
  });

  it('--log json writes the JSON lines of a deployed stage, and nothing else, to standard output', async () => {
    const gateway = await startGateway('--log json', folder);
    try {
      const line = await lineWith(gateway.out, await call(gateway, 'demo/chat'), gateway);
      expect(JSON.parse(line)).toMatchObject({
        event: 'request',
        status: 200,
        outcome: 'ok',
        key_name: 'demo',
        provider_path: 'acme',
        cost_usd: '0.00004625',
        _aws: { CloudWatchMetrics: expect.any(Array) },
      });
      // A program that reads this output finds only log lines in it.
      for (const written of gateway.out().trimEnd().split('\n')) expect(JSON.parse(written)).toHaveProperty('event');
      expect(gateway.error()).toContain(`ready ${gateway.url}`);
    } finally {
      await gateway.stop();
    }
  });

  it('--log off writes nothing about requests; traces go where the variables say, the last ones when the process stops', async () => {
    const collector = await startCollector();
    const gateway = await startGateway('--log off', folder, {
      OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.endpoint).origin,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_SERVICE_NAME: 'at-home',
    });
    try {
      const id = await call(gateway, 'demo/fallback');
      await gateway.stop();
      expect([gateway.error(), gateway.out().includes(id)]).toEqual(['', false]);
      expect(gateway.out()).toContain(
        'note: OTEL_EXPORTER_OTLP_PROTOCOL has no effect: traces are sent as http/json\n',
      );
      const request = collector.spans().find(({ attributes }) => attributes['gw.correlation_id'] === id);
      const attempts = collector.spans().filter(({ parentSpanId }) => parentSpanId === request?.spanId);
      expect(attempts.map(({ name, isError }) => [name, isError])).toEqual([
        ['chat demo/fallback', true],
        ['chat demo/fallback', false],
      ]);
      expect(collector.resource()).toEqual({ 'service.name': 'at-home' });
    } finally {
      await gateway.stop();
      await collector.stop();
    }
  });

  it('says that a provider refused its key, and never prints it', async () => {
    const file = join(folder, 'wrong-key.yaml');
    const key = 'not-a-key-of-this-provider';
    const simulator = await startTestSimulator();
    writeFileSync(
      file,
      `providers: [{ id: acme, base_url: "${simulator.urlOf('acme')}", auth: { bearer: { env: ACME_API_KEY } } }]
models:
  - id: acme/one
    providers: [{ provider: acme, upstream_model: error-401, input_price_per_million: "1", output_price_per_million: "1", context_length: 1000 }]
workspaces: [{ id: team, credit_usd: "1", keys: [{ name: ci }] }]
`,
    );
    const second = await startGateway(`--config ${file}`, folder, { ACME_API_KEY: key });
    try {
      const text = await printedLine(second, /shown once\): (\S+)/);
      const response = await fetch(`${second.url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${text}` },
        body: JSON.stringify({ model: 'acme/one', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      expect(await response.json()).toMatchObject({ error: 'no_available_provider' });
      const id = response.headers.get('x-request-id') ?? '';
      await lineWith(() => second.error().replace(/.*it says.*/g, ''), id, second);
      expect(second.error()).toMatch(/acme status_401 {2}acme\/one {2}the provider refused the key .*it says: /);
      expect(second.error()).toMatch(/502 no_available_provider {2}acme\/one {2}acme status_401 \(key refused\)/);
      expect(second.error()).not.toContain(key);
    } finally {
      await Promise.all([simulator.stop(), second.stop()]);
    }
  });
});

describe('the readable log', () => {
  const clock = { nowMs: () => 1_800_000_000_000, after: () => () => {} };
  function logInto(isColoured = false) {
    const lines: string[] = [];
    return { log: createTerminalLog({ clock, isColoured, write: (line) => void lines.push(line) }), lines };
  }
  const request = { event: 'request', status: 200, outcome: 'ok', total_ms: 5, correlation_id: 'id' };

  it('says what a call was counted by in place of tokens', () => {
    const { log, lines } = logInto();
    const tokens = { 'gen_ai.usage.input_tokens': 0, 'gen_ai.usage.output_tokens': 0 };
    log.info({ ...request, method: 'POST', route: '/x', ...tokens, units: '2 seconds' });
    expect(lines).toEqual(['2027-01-15T08:00:00Z  200 ok  POST /x  5 ms  2 seconds  id\n']);
  });

  it.each([
    [200, 'ok', 32],
    [429, 'api_key_rate_limit', 33],
    [502, 'no_available_provider', 31],
  ])('colours %i on a terminal only', (status, outcome, colour) => {
    const [plain, coloured] = [logInto(), logInto(true)];
    for (const { log } of [plain, coloured]) log.info({ ...request, status, outcome, method: 'GET', route: '/x' });
    expect(plain.lines).toEqual([`2027-01-15T08:00:00Z  ${status} ${outcome}  GET /x  5 ms  id\n`]);
    expect(coloured.lines.join('')).toContain(`\u001b[${colour}m${status} ${outcome}\u001b[39m`);
  });

  it('says of a stored answer that it is one, and how a stream was cut', () => {
    const { log, lines } = logInto();
    log.info({ ...request, 'gen_ai.request.model': 'a', idempotent_replayed: true });
    log.info({ ...request, 'gen_ai.request.model': 'a', outcome: 'cut', 'error.type': 'no_available_provider' });
    expect(lines.map((line) => line.slice(22))).toEqual([
      '200 ok  a  replay  5 ms  id\n',
      '200 cut no_available_provider  a  5 ms  id\n',
    ]);
  });

  it('shows a function by its alias, then the model that answered, and who paid', () => {
    const { log, lines } = logInto();
    const call = {
      ...request,
      function_id: 'label',
      'gen_ai.request.model': 'gw/function/label',
      provider_path: 'acme',
    };
    log.info({ ...call, 'gen_ai.response.model': 'acme/one' });
    log.info({ ...call, status: 502, outcome: 'execution_failed', provider_path: 'acme timeout' });
    log.info({
      ...request,
      'gen_ai.request.model': 'auto',
      'gen_ai.response.model': 'acme/one',
      cost_usd: '0.1',
      is_byok: true,
    });
    expect(lines.map((line) => line.slice(22))).toEqual([
      '200 ok  gw/function/label  acme/one  acme  5 ms  id\n',
      '502 execution_failed  gw/function/label  acme timeout  5 ms  id\n',
      '200 ok  acme/one  5 ms  0.1 USD BYOK  id\n',
    ]);
  });

  it('shows the path of what no route answers, and never calls a refusal ok', () => {
    const { log, lines } = logInto();
    log.info({ ...request, status: 404, outcome: 'not_found', method: 'POST', route: '/v1/chat' });
    expect(lines[0]).toContain('404 not_found  POST /v1/chat  5 ms');
  });

  it('names a charge of more than was reserved', () => {
    const { log, lines } = logInto();
    const charge = { event: 'charge_over_hold', provider: 'acme', model: 'a', message: 'Too many.' };
    log.info({ ...charge, correlation_id: 'id' });
    expect(lines).toEqual(['2027-01-15T08:00:00Z  acme charge_over_hold  a  Too many.  id\n']);
  });

  it('lets nothing that a client wrote steer the terminal', () => {
    const { log, lines } = logInto(true);
    log.info({ ...request, 'gen_ai.request.model': 'a\u001b[2J\nb' });
    expect(lines.join('')).toContain('a·[2J·b');
    const plain = logInto();
    plain.log.error({ event: 'request_failed', message: 'a\u001b[2J\nb' }, new Error('c\u001b]0;owned\u0007\nd\u202e'));
    expect(
      plain.lines
        .join('')
        .split('\n')
        .filter((line) => line.startsWith('2027')),
    ).toHaveLength(plain.lines.length);
    expect(plain.lines.join('')).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  it('writes an error with where it happened, and no other event', () => {
    const { log, lines } = logInto();
    log.error({ event: 'request_failed', correlation_id: 'id' }, new Error('odd', { cause: fail('internal_error') }));
    log.info({ event: 'warm' });
    expect(lines[0]).toMatch(/error request_failed {2}Error: odd \(.*\) {2}id\n$/);
    expect(lines[1]).toContain('    at ');
    expect(lines.join('')).not.toContain('warm');
  });
});

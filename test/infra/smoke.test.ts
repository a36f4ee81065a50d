import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type LocalGateway, startLocalGateway } from '../../infra/local/start-local-gateway.ts';
import { runSmoke, type SmokeOptions } from '../../infra/verify/smoke.ts';

describe('the smoke test', () => {
  let gateway: LocalGateway;
  let options: SmokeOptions;
  beforeAll(async () => {
    const said: string[] = [];
    const local = { port: 0, config: undefined, data: undefined, dynamodb: undefined };
    gateway = await startLocalGateway(local, (line) => void said.push(line));
    options = {
      baseUrl: gateway.url,
      apiKey: /sk-gw-[\w-]+/.exec(said.join('\n'))?.[0] ?? '',
      model: 'demo/chat',
      storedFunction: { id: 'label-ticket', input: '{"ticket": "The printer is on fire"}' },
    };
  });
  afterAll(() => gateway?.stop());

  const run = async (changes: Partial<SmokeOptions> = {}) => {
    const lines: string[] = [];
    const passed = await runSmoke({ ...options, ...changes }, (line) => void lines.push(line));
    return { passed, lines };
  };

  it('passes against the local gateway, with one line per check', async () => {
    const { passed, lines } = await run();
    expect(lines.map((line) => line.split(/\s+/).slice(0, 2).join(' '))).toEqual([
      'ok list',
      'ok json',
      'ok stream',
      'ok function',
      'ok replay',
      'ok account',
      'ok cost',
    ]);
    expect(passed).toBe(true);
    expect(lines.join('\n')).not.toContain(options.apiKey);
  });

  it('says that it left out the function where none is named', async () => {
    const { passed, lines } = await run({ storedFunction: undefined });
    expect(passed).toBe(true);
    expect(lines[3]).toContain('left out: name one with --function');
  });

  it.each<[string, Partial<SmokeOptions>, string, number]>([
    ['a key that is refused', { apiKey: 'sk-gw-nothing' }, 'UNAUTHORIZED', 1],
    ['a model that is not listed', { model: 'demo/none' }, 'there is no model demo/none', 1],
    ['a function that does not exist', { storedFunction: { id: 'none', input: '' } }, 'function_not_found', 4],
  ])('stops at the first failure: %s', async (_case, changes, reason, lineCount) => {
    const { passed, lines } = await run(changes);
    expect(passed).toBe(false);
    expect(lines).toHaveLength(lineCount);
    expect(lines.at(-1)).toMatch(/^FAILS/);
    expect(lines.at(-1)).toContain(reason);
  });

  it('fails a gateway that answers twice in place of replaying, and one that forgets the cost', async () => {
    const without =
      (pattern: RegExp, header?: string): typeof fetch =>
      async (url, init) => {
        const response = await fetch(url, init);
        const headers = new Headers(response.headers);
        if (header !== undefined) headers.delete(header);
        return new Response((await response.text()).replaceAll(pattern, ''), { status: response.status, headers });
      };
    const twice = await run({ send: without(/nothing like this/g, 'idempotent-replayed') });
    expect(twice.lines.at(-1)).toContain('the second answer is not a replay');
    const free = await run({ send: without(/"cost":[\d.e-]+,/g) });
    expect(free.lines.at(-1)).toContain('the answer has no cost');
  });
});

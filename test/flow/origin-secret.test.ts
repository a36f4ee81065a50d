// The secret of the edge, through the front door: it changes while one process goes on serving.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createOriginCheck } from '../../shared/protocol/http/index.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const [first, second, unknown] = ['a', 'b', 'c'].map((letter) => letter.repeat(48)) as [string, string, string];
const model = 'test/echo';

describe('the secret of the edge', () => {
  let storedSecret = first;
  let gateway: Harness;
  beforeAll(async () => {
    gateway = await startHarness({
      models: { [model]: [{ provider: 'acme', upstream: 'echo' }] },
      replace: ({ clock, log }) => ({
        origin: createOriginCheck({ clock, log, readSecrets: async () => storedSecret }),
      }),
    });
  });
  afterAll(() => gateway.stop());

  const call = async (secret?: string) => {
    const headers = secret === undefined ? {} : { 'x-gw-origin-secret': secret };
    const chat = await gateway.post({ model, messages: [{ role: 'user', content: 'Hello' }] }, headers);
    const list = await gateway.get('/models', headers);
    return [chat.status, list.status];
  };
  const refusals = () => gateway.logLines.filter((line) => JSON.parse(line).event === 'origin_refused');

  it('changes without a refused call: the former is served until it is removed, the new one from its first call on', async () => {
    expect(await call(first)).toEqual([200, 200]);
    storedSecret = `${second},${first}`;
    expect(await Promise.all([call(first), call(second), call(second)])).toEqual(Array(3).fill([200, 200]));
    storedSecret = second;
    expect(await call(second)).toEqual([200, 200]);
    expect(refusals()).toEqual([]);
  });

  it('that is not accepted is 404 and a line for each request, which costs nothing; without one there is no such line', async () => {
    const [records, callsBefore] = [(await gateway.records()).length, gateway.simulator.calls.length];
    expect(await call(unknown)).toEqual([404, 404]);
    expect(await call()).toEqual([404, 404]);
    expect(refusals()).toHaveLength(2);
    for (const line of refusals()) expect(line).not.toContain(unknown);
    expect([(await gateway.records()).length, gateway.simulator.calls.length]).toEqual([records, callsBefore]);
    expect((await fetch(`${new URL(gateway.url).origin}/health`)).status).toBe(200);
  });
});

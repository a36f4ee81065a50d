// Audio files that claim less time than they play: the gateway reserves the time that the provider will measure before
// it calls the provider.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type AudioFile, forgeries, wav } from '../support/audio-files.ts';
import { expectBalancedAccount, expectBalancedTables } from '../support/balanced-books.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { countOutcomes } from '../support/outcomes.ts';

const callsAtOnce = 40;
const oneUsd = 1_000_000_000_000n;
const names = Object.keys(forgeries);
const keys = new Map(names.map((name) => [name, newKey()]));
const workspaceOf = (name: string) => `forger-${names.indexOf(name)}`;

let gateway: Harness;
beforeAll(async () => {
  const more = {
    ...{ input_price_per_million: '0', output_price_per_million: '0', max_output_tokens: 2_000 },
    ...{ input_price_per_second: '0.001', supported_params: {}, streaming: true },
  };
  gateway = await startHarness({
    speaks: { api: 'transcriptions', path: '/audio/transcriptions' },
    models: { whisper: [{ provider: 'acme', upstream: 'whisper-1/echo', more }] },
    moreWorkspaces: names.map((name) => ({
      id: workspaceOf(name),
      credit_usd: '1',
      keys: [{ name: 'forger', key: keys.get(name) }],
    })),
  });
});
afterAll(() => gateway.stop());

function post({ bytes, plays }: AudioFile, key: string | undefined): Promise<Response> {
  const form = new FormData();
  form.append('model', 'whisper');
  form.append('prompt', `plays ${plays} s`);
  form.append('file', new Blob([new Uint8Array(bytes)]), 'speech.wav');
  const headers = { authorization: `Bearer ${key ?? gateway.key}` };
  return fetch(`${gateway.url}/audio/transcriptions`, { method: 'POST', headers, body: form });
}

describe.each(Object.entries(forgeries))('%s', (name, file) => {
  it('spends no more than the workspace has, however many calls come at once', async () => {
    const calls = Array.from({ length: callsAtOnce }, () => post(file, keys.get(name)));
    const { ok = 0, PAYMENT_REQUIRED = 0 } = await countOutcomes(calls);
    expect(ok + PAYMENT_REQUIRED).toBe(callsAtOnce);
    await gateway.settled();
    const spent = await expectBalancedAccount(gateway, workspaceOf(name));
    expect(spent).toBeLessThanOrEqual(oneUsd);
    // The client pays for every served call what the provider measured.
    expect(spent).toBeGreaterThan((BigInt(ok) * BigInt(Math.floor(file.plays)) * oneUsd) / 1_001n);
  });
});

it('a forged file leaves no reservation behind, and its log line names no charge over what was reserved', async () => {
  await expectBalancedTables(gateway);
  expect(gateway.logLines.filter((line) => line.includes('charge_over_hold'))).toEqual([]);
});

it('a report of more seconds than were reserved is charged, and named with its unit', async () => {
  const before = gateway.logLines.length;
  const response = await post({ ...wav(2), plays: 90 }, undefined);
  expect((await gateway.recordOf(response))?.costPicoUsd).toBe((90n * oneUsd) / 1_000n);
  const lines = gateway.logLines.slice(before).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ event }) => event === 'charge_over_hold')).toEqual([
    expect.objectContaining({
      correlation_id: response.headers.get('x-request-id'),
      units: '90 seconds',
      message: 'The provider reported 90 seconds for a call that can have 2.',
    }),
  ]);
});

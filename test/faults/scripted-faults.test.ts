// A test that scripts a fault asserts that it was sent: every server of the tests fails if it was not.
import { describe, expect, it } from '#jest';
import { startAccountProvider } from '../support/account-provider.ts';
import { startCollector } from '../support/collector.ts';
import { createFaultScript } from '../support/fault-script.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { startGatedProvider } from '../support/gated-provider.ts';
import { hello, startHarness } from '../support/harness.ts';
import { discoveryPath, startIdentityProvider } from '../support/identity-provider.ts';
import { startServerWith } from '../support/refused-certificates.ts';
import { startScriptedGuardrail } from '../support/scripted-guardrail.ts';
import { startScriptedProvider } from '../support/scripted-provider.ts';
import { awsError, startScriptedServer } from '../support/scripted-server.ts';
import { startMuteServer } from '../support/socket-server.ts';
import { fileFaultsOfSuite } from '../support/test-simulator.ts';
import { startTokenEndpoint } from '../support/token-endpoint.ts';

interface Stoppable {
  stop(): Promise<void>;
}

/** A server after a test has changed it. */
async function afterChange<Server extends Stoppable>(started: Promise<Server>, change: (server: Server) => void) {
  const server = await started;
  change(server);
  return server;
}

const models = { 'acme/cut': [{ provider: 'acme', upstream: 'cut:1' }] };

/** Servers with a fault each, and what the error names. */
const servers: readonly (readonly [name: string, start: () => Promise<Stoppable>, named: RegExp])[] = [
  ['an account at its limit', () => startAccountProvider({ 'sk-1': 429 }), /429/],
  ['a collector that hangs', () => afterChange(startCollector(), (one) => (one.mode = 'hang')), /hang/],
  ['a proxy that refuses', () => afterChange(startForwardProxy({}), (one) => one.refuseWith(407)), /407/],
  ['a gate', () => afterChange(startGatedProvider(String), (one) => one.urlOf('held', 'acme')), /held/],
  [
    'a document of an identity provider',
    () => afterChange(startIdentityProvider(), (one) => one.replaced.set(discoveryPath, 'no JSON')),
    /openid-configuration/,
  ],
  ['a refused certificate', () => startServerWith('expired'), /expired/],
  [
    'a guardrail that is malformed',
    () => afterChange(startScriptedGuardrail(), (one) => one.answer(() => ({}))),
    /\{\}/,
  ],
  ['the first answer of a provider', () => startScriptedProvider((outgoing) => outgoing.destroy()), /asked 0 times/],
  ['a server of AWS', () => startScriptedServer([awsError(400, 'ThrottlingException')]), /ThrottlingException/],
  ['a connection that says nothing', () => startMuteServer(), /to a connection/],
  [
    'a token endpoint that fails',
    () => afterChange(startTokenEndpoint(), (one) => (one.answer = { status: 500, body: {} })),
    /500/,
  ],
];

describe('a scripted fault', () => {
  it.each(servers)('that nobody was sent fails the test: %s', async (_name, start, message) => {
    await expect(start().then((server) => server.stop())).rejects.toThrow(message);
  });

  it('in a gateway file fails its suite until a test calls it, at whatever gateway', async () => {
    await (await startHarness({ models })).stop();
    expect(() => fileFaultsOfSuite().script.check()).toThrow('cut:1 of acme');
    const harness = await startHarness({ models });
    await (await harness.post(hello('acme/cut'))).text();
    await harness.stop();
    expect(() => fileFaultsOfSuite().script.check()).not.toThrow();
  });

  it('has to be sent again if it is scripted again', () => {
    const script = createFaultScript('a server');
    script.script('hangs');
    script.markSent('hangs');
    script.markSent('another');
    expect(() => script.check()).not.toThrow();
    script.script('hangs');
    expect(() => script.check()).toThrow('a server never sent these faults: hangs');
  });
});

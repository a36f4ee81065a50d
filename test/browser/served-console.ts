// A gateway with real calls behind the console, and an operator for it.

import { createOperatorGateway } from '../../functions/operator/routes.ts';
import { createWholeGateway } from '../../infra/container/routes.ts';
import { builtFiles } from '../../infra/local/built-files.ts';
import { createOperator } from '../../shared/configuration/administration/index.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { startScriptedProvider } from '../support/scripted-provider.ts';
import { serveGateway } from '../support/serve-gateway.ts';

/** A name that runs as code if a page takes it for markup. */
export const hostile = '<img src=x onerror=alert(1)>';

/** A session id that runs as code if a page takes it for markup; a session id has no blank. */
export const hostileSession = '<img/src=x/onerror=alert(1)>';

/** An unclosed element, which a browser closes by itself. */
export const hostileUnclosed = '<img src=y onerror=alert(2)';

/** A tag value that a page could take for markup; tag values have fewer allowed characters. */
export const hostileTag = '<img/src>';

export interface ServedConsole {
  /** Origin of a console with its own address, as on a stage without a distribution. */
  readonly apart: string;
  readonly gateway: Harness;
  readonly origin: string;
  readonly operatorKey: string;
  stop(): Promise<void>;
}

const revision = (id: string, state: string) => ({
  id,
  state,
  model: 'acme/echo',
  messages: [{ role: 'user', content: `${id}: {{input}}` }],
});

export async function serveConsole(): Promise<ServedConsole> {
  const hostileKey = newKey();
  // Answers every call with an error that contains code as markup; operators see it without whole tags.
  const quoting = await startScriptedProvider(
    (outgoing) =>
      outgoing
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: `Refused: ${hostile} ${hostileUnclosed}`, param: hostile } })),
    { requests: 'optional' },
  );
  const gateway = await startHarness({
    mayLeaveFaults: true,
    models: {
      'acme/echo': [{ provider: 'acme', upstream: 'echo', more: { rate_limit_rpm: 1_000, rate_limit_tpd: 9_000_000 } }],
      'both/fallback': [
        { provider: 'globex', upstream: 'error-500', more: { input_price_per_million: '0.50' } },
        { provider: 'acme', upstream: 'echo' },
      ],
      'acme/slow': [{ provider: 'acme', upstream: 'slow-chunks:10' }],
      'acme/stalling': [{ provider: 'acme', upstream: 'stall' }],
      'acme/mismatch': [{ provider: 'acme', upstream: 'invalid-json:mismatch' }],
      'initech/vectors': [{ provider: 'initech', upstream: 'echo' }],
      'globex/failing': [{ provider: 'globex', upstream: 'error-500' }],
      'quoting/refused': [{ provider: 'quoting', upstream: 'any' }],
      'listed/gpt-5.4': [{ provider: 'listed', upstream: 'gpt-5.4', more: { cached_input_price_per_million: '0.30' } }],
    },
    providers: {
      listed: { kind: 'openai' },
      initech: { apis: ['embeddings', 'transcriptions'], display_name: hostile },
      quoting: { base_url: quoting.url },
    },
    modelMembers: { 'acme/echo': { display_name: hostile } },
    workspace: {
      functions: [
        {
          id: 'label',
          kind: 'prompt',
          active: 'r1',
          revisions: [
            revision('r1', 'activated'),
            revision('r2', 'draft'),
            { ...revision('r3', 'draft'), cases: [{ input: 'apples', expect: { contains: 'apples' } }] },
          ],
        },
      ],
    },
    moreWorkspaces: [
      {
        id: 'other',
        credit_usd: '1',
        keys: [{ name: hostile, key: hostileKey, tags: { note: hostileTag } }],
        functions: [
          {
            id: 'quoted',
            kind: 'prompt',
            revisions: [{ ...revision('r1', 'draft'), messages: [{ role: 'user', content: `${hostile} {{input}}` }] }],
          },
        ],
      },
    ],
  });
  const { text: operatorKey } = await createOperator(gateway.composition, 'ada');
  const server = await serveGateway(gateway.composition, createWholeGateway(gateway.composition, builtFiles()));
  const gatewayUrl = new URL(gateway.url).origin;
  const apart = await serveGateway(
    gateway.composition,
    createOperatorGateway(gateway.composition, { ...builtFiles().page, gatewayUrl }),
  );
  const bodies = [hello('acme/echo'), hello('both/fallback'), hello('globex/failing'), hello(hostile)];
  for (const body of bodies) {
    const tags = `team=${body.model === 'both/fallback' ? 'search' : hostileTag}`;
    await (await gateway.post(body, { 'x-title': hostile, 'x-gw-tags': tags, 'x-session-id': hostileSession })).text();
  }
  const authorization = `Bearer ${hostileKey}`;
  await (await gateway.post(hello('acme/echo', { user: hostile, stream: true }), { authorization })).text();
  await gateway.settled();
  return {
    gateway,
    origin: new URL(server.url).origin,
    apart: new URL(apart.url).origin,
    operatorKey,
    async stop() {
      await apart.close();
      await server.close();
      await gateway.stop();
      await quoting.stop();
    },
  };
}

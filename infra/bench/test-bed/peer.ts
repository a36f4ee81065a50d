// Starts the peers of the comparison: always a bare relay of Node, and other gateways as they are installed
// (@portkey-ai/gateway, fetched from npm for the run, and LiteLLM's proxy from a Python virtual environment that the
// caller has created).
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { hasEnded, spawnBoundChild } from '../../local/bound-child.ts';
import { freePort } from '../../local/free-port.ts';
import { createClient, jsonBody, type MeasuredEndpoint } from '../measuring-client.ts';
import { relayName } from '../targets.ts';

export interface PeerChoice {
  readonly portkey: boolean;
  /** Folder of the virtual environment in which `litellm[proxy]` is installed. */
  readonly litellm: string | undefined;
}

interface Peer extends MeasuredEndpoint {
  readonly pid: number;
  /** Lists the calls that LiteLLM remembers during the measurement. */
  readonly keeps: string;
  stop(): Promise<void>;
}

interface Started extends Omit<Peer, 'url' | 'pid' | 'stop'> {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const portkeyName = '@portkey-ai/gateway@1.15.2';
/**
 * Number of checks within two minutes: npm fetches Portkey's gateway first, and LiteLLM imports half of its packages.
 */
const triesMax = 600;
const tryIntervalMs = 200;

/**
 * Starts the peers, except for peers that cannot be fetched or do not answer. A file of settings is written into
 * `folder`.
 */
export async function startPeers(choice: PeerChoice, provider: string, folder: string): Promise<Peer[]> {
  const chosen = [
    relay(provider),
    ...(choice.portkey ? [portkey(provider)] : []),
    ...(choice.litellm === undefined ? [] : [await litellm(choice.litellm, provider, folder)]),
  ];
  const started = await Promise.all(chosen.map(startPeer));
  return started.filter((peer) => peer !== undefined);
}

const relay =
  (provider: string) =>
  (port: number): Started => ({
    name: relayName,
    keeps: 'nothing, and reads nothing',
    command: process.execPath,
    args: [join(import.meta.dirname, 'relay-process.ts'), String(port), provider],
  });

/**
 * Makes the headers of streamed answers mutable: Portkey's gateway deletes some, which `fetch` does not permit, and
 * fails the stream.
 */
const mutableHeaders = `const { fetch } = globalThis;
globalThis.fetch = async (...request) => {
  const answer = await fetch(...request);
  const { body, status, headers } = answer;
  return headers.get('content-type') === 'text/event-stream' ? new Response(body, { status, headers: new Headers(headers) }) : answer;
};`;

const portkey =
  (provider: string) =>
  (port: number): Started => ({
    name: portkeyName,
    keeps: 'no keys, no limits, no money, no records: no state at all',
    headers: { authorization: 'Bearer -', 'x-portkey-provider': 'openai', 'x-portkey-custom-host': provider },
    command: 'npx',
    args: ['--yes', '--ignore-scripts', portkeyName, '--headless', `--port=${port}`],
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(mutableHeaders)}` },
  });

/** LiteLLM refuses to start with a weak key. */
const litellmKey = 'sk-bench-0123456789abcdefghijklmnop';

/** Starts LiteLLM's proxy. Throws an Error with one line for the terminal. */
async function litellm(environment: string, provider: string, folder: string): Promise<(port: number) => Started> {
  const command = join(environment, 'bin/litellm');
  if (!existsSync(command)) throw new Error(`--litellm: there is no ${command}; pip install 'litellm[proxy]' there`);
  const config = join(folder, 'litellm.yaml');
  const model = { model_name: 'bench', litellm_params: { model: 'openai/bench', api_base: provider, api_key: 'none' } };
  // Every JSON text is valid YAML.
  await writeFile(config, JSON.stringify({ model_list: [model] }));
  return (port) => ({
    name: 'litellm[proxy]',
    keeps: 'one key of all, checked in memory; without a database no keys of users, no budgets, no records',
    headers: { authorization: `Bearer ${litellmKey}` },
    command,
    args: [
      '--config',
      config,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--num_workers',
      '1',
      '--telemetry',
      'False',
    ],
    // Without the last variable LiteLLM requests its list of prices from the network.
    env: { LITELLM_MASTER_KEY: litellmKey, LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
  });
}

async function startPeer(describe: (port: number) => Started): Promise<Peer | undefined> {
  const port = await freePort();
  const { command, args, env, ...described } = describe(port);
  const { process: child, stop } = spawnBoundChild(command, args, { env: { ...process.env, ...env } });
  for (const pipe of [child.stdout, child.stderr]) pipe?.resume();
  const peer = { ...described, url: `http://127.0.0.1:${port}/v1`, pid: child.pid ?? Number.NaN, stop };
  const client = createClient(peer, 1);
  for (let tried = 1; (await client.send({ body: jsonBody('bench') })).status !== 200; tried += 1) {
    if (hasEnded(child) || tried === triesMax) {
      process.stderr.write(`skipped: ${peer.name} could not be started\n`);
      client.close();
      return void (await stop());
    }
    await sleep(systemClock, tryIntervalMs);
  }
  client.close();
  return peer;
}

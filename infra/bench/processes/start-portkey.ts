// Another gateway to compare with: @portkey-ai/gateway from npm, installed for one run into a folder of its own. It keeps
// no state: no keys, no limits, no money.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { send, targetOf } from '../load/send.ts';
import { endChild } from './start-child.ts';

/** What the figures in this project's README were made with. */
const version = '1.15.2';
const installTimeoutMs = 60_000;
const looksMax = 100;
const lookIntervalMs = 100;
const lookTimeoutMs = 2_000;

export interface Portkey {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Rejects with an Error of one line where it cannot be installed or does not answer. */
export async function startPortkey(folder: string, upstreamUrl: string, probeBody: string): Promise<Portkey> {
  await install(folder);
  const port = await freePort();
  const script = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const child = spawn(process.execPath, [script, '--headless', `--port=${port}`], { cwd: folder, stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}/v1`;
  const headers = {
    authorization: 'Bearer none',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': upstreamUrl,
  };
  const stop = () => endChild(child);
  try {
    await untilItAnswers(url, headers, probeBody);
  } catch (error) {
    await stop();
    throw error;
  }
  return { name: `@portkey-ai/gateway ${version}`, url, headers, stop };
}

async function install(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"private": true}');
  const command = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `@portkey-ai/gateway@${version}`];
  try {
    await promisify(execFile)('npm', command, { cwd: folder, timeout: installTimeoutMs });
  } catch {
    throw new Error(`npm could not install @portkey-ai/gateway@${version}`);
  }
}

async function untilItAnswers(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const target = targetOf('@portkey-ai/gateway', url, headers, 1);
  let last: unknown;
  for (let look = 1; look <= looksMax; look += 1) {
    try {
      await send(target, body, lookTimeoutMs);
      target.agent.destroy();
      return;
    } catch (error) {
      last = error;
    }
    await sleep(systemClock, lookIntervalMs);
  }
  target.agent.destroy();
  throw new Error(`@portkey-ai/gateway does not answer (${last instanceof Error ? last.message : last})`);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

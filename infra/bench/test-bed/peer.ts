// A gateway to compare with: @portkey-ai/gateway, fetched from npm for the run. It keeps no state: no keys, limits, money.
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { hasEnded, spawnBoundChild } from '../../local/bound-child.ts';
import { freePort } from '../../local/free-port.ts';
import { createClient, jsonBody } from '../measuring-client.ts';

const name = '@portkey-ai/gateway@1.15.2';
/** A minute: npm fetches it first. */
const triesMax = 300;
const tryIntervalMs = 200;

/** Undefined where it cannot be fetched or does not answer. */
export async function startPeer(provider: string) {
  const port = await freePort();
  const command = ['--yes', '--ignore-scripts', name, '--headless', `--port=${port}`];
  const { process: child, stop } = spawnBoundChild('npx', command);
  for (const pipe of [child.stdout, child.stderr]) pipe?.resume();
  const url = `http://127.0.0.1:${port}/v1`;
  const headers = { authorization: 'Bearer -', 'x-portkey-provider': 'openai', 'x-portkey-custom-host': provider };
  const peer = { name, url, headers, stop };
  const client = createClient(peer, 1);
  for (let tried = 1; (await client.send({ body: jsonBody('bench') })).status !== 200; tried += 1) {
    if (hasEnded(child) || tried === triesMax) {
      process.stderr.write(`skipped: npx could not start ${name}\n`);
      return void (await stop());
    }
    await sleep(systemClock, tryIntervalMs);
  }
  client.close();
  return peer;
}

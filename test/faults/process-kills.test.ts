// Real processes, killed with SIGKILL while they serve: `npm start` as an operator runs it, several in turn on one store.
// What they leave behind is met by a gateway of this process, whose clock can be moved past the leases.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createTables } from '../../infra/local/create-tables.ts';
import { startEmbeddedDynamo } from '../../infra/local/embedded-dynamodb.ts';
import { createDynamoClient } from '../../shared/storage/store/index.ts';
import type { Reply } from '../support/call-gateway.ts';
import type { Tables } from '../support/gateway-backends.ts';
import { readRecords } from '../support/read-records.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { checkWellAnswered, saysItBroke } from '../support/well-answered.ts';
import { retryAll, standingAfterTheLease } from './after-the-lease.ts';
import { askGateway } from './ask-gateway.ts';
import { brokenSums, overspent, showCredit, workspaces } from './books.ts';
import { connectionVariable } from './fault-file.ts';
import { connectionKey, type FaultHarness, startFaultHarness } from './fault-harness.ts';
import { mixCalls, type PlannedCall } from './mixed-calls.ts';
import { faultSeed, seededRandom } from './seeded-random.ts';
import { sendOne } from './send-calls.ts';

/** The first leaves what the others meet; each process takes a second to start. */
const kills = 3;
const callsPerKill = 25;
/** The most that a call of the suite can cost: 64 tokens of output and a short prompt, thrice. */
const callMaxPicoUsd = 2_000_000_000n;
const behaviours = ['echo', 'reasoning', 'slow', 'slow-chunks'];
const main = resolve(import.meta.dirname, '../../infra/local/main.ts');

interface Answer {
  readonly call: PlannedCall;
  /** Undefined: the process died over it. */
  readonly reply: Reply | undefined;
}

let folder: string;
let tables: Tables;
let harness: FaultHarness;
const answers: Answer[] = [];

/** The stage of every local run, on an engine of its own. */
async function startLocalTables(): Promise<Tables> {
  const { endpoint, stop } = await startEmbeddedDynamo({ log: (line) => process.stderr.write(`${line}\n`) });
  const client = createDynamoClient({ endpoint });
  await createTables(client, 'local');
  return {
    client,
    endpoint,
    stage: 'local',
    stop: async () => {
      client.destroy();
      await stop();
    },
  };
}

/** Resolves with the URL once the child answers. */
async function startChild(): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const args = [
    main,
    '--port',
    '0',
    '--log',
    'off',
    '--config',
    join(folder, 'gateway.yaml'),
    '--dynamodb',
    tables.endpoint,
  ];
  const env = { ...process.env, [connectionVariable]: connectionKey };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^ready (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return { child, url };
  }
  throw new Error('the gateway ended before it was ready');
}

/** One child after the other: calls of every kind at once, and SIGKILL when some of them have their answer. */
async function killInTurn(): Promise<void> {
  const random = seededRandom(faultSeed);
  const children = await Promise.all(Array.from({ length: kills }, startChild));
  for (const { child, url } of children) {
    const calls = mixCalls(random, callsPerKill, behaviours).map((call) => ({ ...call, leavesAfterMs: undefined }));
    const enough = Promise.withResolvers<void>();
    let untilDeath = 1 + random.below(callsPerKill / 2);
    const sent = calls.map(async (call) => {
      const reply = await sendOne(url, call, harness.keys).catch(() => undefined);
      answers.push({ call, reply });
      untilDeath -= 1;
      if (untilDeath === 0) enough.resolve();
    });
    await enough.promise;
    child.kill('SIGKILL');
    await once(child, 'exit');
    await Promise.all(sent);
  }
}

beforeAll(async () => {
  folder = temporaryFolder();
  tables = await startLocalTables();
  harness = await startFaultHarness({ tables, folder: join(folder, '.gw'), behaviours });
  writeFileSync(join(folder, 'gateway.yaml'), harness.fileText);
  await killInTurn();
});
afterAll(async () => {
  await harness.stop();
  const lost = answers.filter(({ reply }) => reply === undefined).length;
  process.stderr.write(
    `kills: ${kills} × SIGKILL, seed ${faultSeed}: ${answers.length} calls, ${lost} died with their process\n`,
  );
});

describe('processes that are killed', () => {
  it('leave no client with half an envelope or a stream that seems whole', () => {
    for (const { reply } of answers) if (reply !== undefined) checkWellAnswered(reply, { faults: [502] });
    expect(answers).toHaveLength(kills * callsPerKill);
    expect(answers.some(({ reply }) => reply?.status === 200)).toBe(true);
    expect(answers.some(({ reply }) => reply === undefined)).toBe(true);
  });

  it('neither gain nor lose money, and let no call overspend, whatever they were doing', async () => {
    expect(await brokenSums(harness)).toEqual([]);
    expect(await overspent(harness)).toEqual([]);
  });

  it('keep their Idempotency-Keys until the lease ends: an answer is replayed, nothing runs again', async () => {
    const { gateway } = harness.open();
    for (const { call, reply } of answers.filter(({ call: { idempotent } }) => idempotent !== undefined)) {
      const retry = await askGateway(gateway, call, harness.keys, harness.clock);
      checkWellAnswered(retry, { faults: [502] });
      if (reply?.status === 200 && !saysItBroke(reply.text)) expect(retry.text).toBe(reply.text);
    }
    // Those that run once whatever becomes of them.
    const markers = answers.flatMap(({ call: { body, idempotent } }) =>
      /echo|slow/.test(String(body.model)) ? (idempotent?.marker ?? []) : [],
    );
    for (const marker of new Set(markers)) {
      const executions = harness.simulator.calls.filter(({ bodyText }) => bodyText.includes(marker));
      expect(executions.length).toBeLessThanOrEqual(1);
    }
  });

  it('hold nothing when the leases are over, and every key runs again', async () => {
    expect(await standingAfterTheLease(harness)).toEqual([]);
    const retried = await retryAll(
      harness,
      answers.map(({ call }) => call),
    );
    expect(retried).not.toContain(409);
    expect(await brokenSums(harness)).toEqual([]);
  });

  it('part record and credit by no more than the calls they did not finish', async () => {
    const unfinished = BigInt(answers.length);
    for (const workspace of workspaces) {
      const records = (await readRecords(harness.operator, workspace)).filter(({ isByok }) => !isByok);
      const recorded = records.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n);
      const { spent } = await showCredit(harness, workspace);
      const apart = recorded > spent ? recorded - spent : spent - recorded;
      expect(apart).toBeLessThanOrEqual(unfinished * callMaxPicoUsd);
    }
  });
});

// Common parts of the scripts that run a coding agent: the agent from npm under .cache/, a gateway with models that
// answer and models that fail, and one line for each result. No request leaves this machine.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Skipped } from '../../infra/verify/verify-step.ts';
import type { InterfaceId } from '../../shared/foundation/constants/index.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import useOneFolderForTheRun from '../support/temporary-folder.ts';
import { formats, providersOfFormats } from './client-gateway.ts';
import { installPackages } from './npm-packages.ts';
import { formatResults } from './results.ts';

export interface CodingAgent {
  /** The agent's name, as its users call it. */
  readonly name: string;
  /** The package's name on npm. */
  readonly packageName: string;
  readonly version: string;
  readonly program: string;
  /** The client interface that it calls. */
  readonly speaks: InterfaceId;
}

/** A key of a workspace without credit. */
export const poorKey = newKey();

/** The behaviours of a model's providers, in their order. */
const behavioursOf = {
  'acme/echo': ['echo'],
  'acme/refused': ['error-401'],
  'acme/rescued': ['error-500', 'echo'],
  'acme/broken': ['error-after-chunks:3'],
  'acme/too-long': ['error-400:context_length_exceeded'],
};

const startGateway = (speaks: InterfaceId): Promise<Harness> =>
  startHarness({
    models: {
      ...providersOfFormats.models,
      ...Object.fromEntries(
        Object.entries(behavioursOf).map(([id, behaviours]) => [
          id,
          behaviours.map((upstream, index) => ({ provider: ['acme', 'globex'][index] ?? '', upstream })),
        ]),
      ),
    },
    providers: { ...providersOfFormats.providers, acme: { apis: [speaks] }, globex: { apis: [speaks] } },
    moreWorkspaces: [{ id: 'poor', credit_usd: '0', keys: [{ name: 'poor', key: poorKey }] }],
  });

/** Checks by what they show. `program` is the agent's path. */
export type AgentChecks = Readonly<Record<string, (program: string, gateway: Harness) => Promise<void>>>;

/**
 * Checks the agent's row in results.ts: a model whose providers have another format is refused at once, with a text
 * that the agent shows. `failureOf` returns its error for a call to a model, undefined after an answer.
 */
export async function checkFormats(
  name: string,
  gateway: Harness,
  failureOf: (model: string) => Promise<string | undefined>,
): Promise<void> {
  const cells: Record<string, string> = {};
  for (const format of formats) {
    gateway.simulator.clear();
    const failure = await failureOf(`formats/${format}`);
    cells[format] = failure === undefined ? 'yes' : 'no';
    if (failure === undefined) continue;
    assert.match(failure, /No provider of .* serves the interface/);
    assert.equal(gateway.simulator.calls.length, 0);
  }
  assert.deepEqual(formatResults[name], cells, `${name}: formats in results.ts`);
}

/** `-- WORDS` selects the checks with these words in their titles. */
const [only = ''] = process.argv.slice(2);

async function runChecks(agent: CodingAgent, checks: AgentChecks): Promise<void> {
  useOneFolderForTheRun();
  const folder = await installPackages(agent.packageName.split('/').at(-1) ?? '', {
    [agent.packageName]: agent.version,
  });
  const program = join(folder, 'node_modules/.bin', agent.program);
  const gateway = await startGateway(agent.speaks);
  try {
    for (const [title, check] of Object.entries(checks).filter(([title]) => title.includes(only))) {
      gateway.simulator.clear();
      await check(program, gateway);
      process.stdout.write(`ok       ${agent.name} ${agent.version}: ${title}\n`);
    }
  } finally {
    await gateway.stop();
  }
}

export const checkCodingAgent = (agent: CodingAgent, checks: AgentChecks): Promise<void> =>
  runChecks(agent, checks).catch((error: unknown) => {
    const isSkipped = error instanceof Skipped;
    if (!isSkipped) process.exitCode = 1;
    const words = (error as Error).message;
    process.stdout.write(`${isSkipped ? 'skipped' : 'FAILS  '}  ${agent.name} ${agent.version}: ${words}\n`);
  });

// Changes of a start to the store: it applies a gateway file, or the demo where the store has nothing else.
import type { Composition } from '../../shared/composition/index.ts';
import {
  ApplyInterrupted,
  type ApplyReport,
  type FileApplyOptions,
  type GatewayFilePlan,
  GatewayFileRefused,
  keepAppliedFile,
  planGatewayFile,
  type ReadFile,
  readAppliedFile,
} from '../../shared/configuration/gateway-file/index.ts';
import { readVariable } from '../../shared/foundation/environment/index.ts';
import { checkGatewayFile, InvalidGatewayFile } from './config-file.ts';
import { isDemoStore, planDemo, revokeFormerKeys } from './demo/demo-gateway.ts';
import { changeLines, describeDifferences } from './file-changes.ts';
import type { Stop } from './open-composition.ts';
import { type Simulator, startSimulator } from './simulator/index.ts';

const demoName = 'the demo';

interface NamedFile {
  readonly name: string;
  readonly content: ReadFile;
  /** Absent for the demo, which is applied whole. */
  readonly config?: {
    readonly path: string;
    /** Whether it is applied whole although it was applied before. */
    readonly reapply: boolean;
    /** How the command line names the store; undefined where it is in memory. */
    readonly storeOption: string | undefined;
  };
}

interface Start {
  readonly composition: Composition;
  readonly say: (line: string) => void;
  /** Said once the gateway answers; also when the start fails, as keys among it are shown nowhere else. */
  readonly later: string[];
  readonly started: Stop[];
}

interface Configured {
  /** Keys that are active from now on, as far as this start knows their texts. */
  readonly keyTexts: readonly string[];
  readonly isDemo: boolean;
  /** Undefined when this start simulates no provider. */
  readonly simulator?: Simulator;
}

export async function configure(start: Start, file: NamedFile | undefined): Promise<Configured> {
  const { composition, later, started } = start;
  if (file !== undefined) return { keyTexts: await applyFile(start, file), isDemo: false };
  if (!(await isDemoStore(composition))) {
    later.push('serving what the store holds, without a change; --config FILE applies a gateway file');
    return { keyTexts: [], isDemo: false };
  }
  const simulator = await startSimulator();
  started.push(() => simulator.stop());
  const demo = await planDemo(composition, simulator.urlOf, process.env);
  // Revoked first, because only one active key of a workspace may have a name.
  await revokeFormerKeys(composition, demo.key);
  await applyFile(start, { name: demoName, content: checkGatewayFile(demoName, demo.text) });
  later.push(`demo key: ${demo.key}`, ...demo.notes.map((note) => `note: ${note}`));
  return { keyTexts: [demo.key], simulator, isDemo: true };
}

async function applyFile(start: Start, named: NamedFile): Promise<readonly string[]> {
  const { composition, say, later } = start;
  const { name, config, content } = named;
  const former = config === undefined || config.reapply ? undefined : await readAppliedFile(composition.store);
  const plan = await planFile(composition, named, { former, keepsRevoked: true }).catch((error: unknown) => {
    throw error instanceof GatewayFileRefused ? new InvalidGatewayFile(name, error.problems) : error;
  });
  for (const line of changeLines(plan.changes)) say(line);
  later.push(...plan.notes.map((note) => `note: ${note}`));
  const showKeys = ({ createdKeys }: ApplyReport) => {
    later.push(...createdKeys.map(({ workspace, name, key }) => `key ${name} of ${workspace} (shown once): ${key}`));
    return createdKeys.map(({ key }) => key);
  };
  try {
    const keyTexts = showKeys(await plan.apply());
    const whole = former && (await planFile(composition, named, {}).catch(asRefusal));
    later.push(...describeDifferences({ applied: plan, whole }, { name, store: config?.storeOption }));
    if (config !== undefined) {
      const isStored = await keepAppliedFile(composition.store, content, {
        path: config.path,
        modelIds: plan.modelIds,
      });
      if (!isStored) later.push(`note: ${name} is too large to be kept: the next start applies it whole`);
    }
    return keyTexts;
  } catch (error) {
    if (error instanceof ApplyInterrupted) showKeys(error.report);
    throw error;
  }
}

function planFile(
  composition: Composition,
  { content: { file, lineOf } }: NamedFile,
  options: Pick<FileApplyOptions, 'former' | 'keepsRevoked'>,
): Promise<GatewayFilePlan> {
  const { randomness, clock } = composition;
  const nowMs = clock.nowMs();
  return planGatewayFile({ ...options, file, lineOf, stores: composition, readVariable, randomness, nowMs });
}

function asRefusal(error: unknown): GatewayFileRefused {
  if (error instanceof GatewayFileRefused) return error;
  throw error;
}

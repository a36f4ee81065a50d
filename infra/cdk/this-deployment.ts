// What one deployment alone does, and the next one does not know of: `npm run deploy` says it to the app, as context of these names. Without
// the CDK library, so that scripts load fast.
import type { StageSettings } from './settings-schema.ts';

export type ComputeKind = StageSettings['compute'];

export interface ThisDeployment {
  /**
   * Leaves out what would keep CloudFormation from removing a data stack whose first deployment failed: termination
   * protection of the stack, and deletion protection of tables that it creates.
   */
  readonly firstDeployment?: boolean | undefined;
  /** `account/region` of the stage: tables and bucket that stand there without belonging to the stack are imported. */
  readonly importsIn?: string | undefined;
  /** Restored tables are imported as DynamoDB made them; the next run gives them what the settings say. */
  readonly isImportingRestored?: boolean | undefined;
  /** Whom the functions accept beside whom the settings name: a former origin secret by its number, or `direct`. */
  readonly alsoAccepts?: string | undefined;
  /** The former compute, which ends what runs there. */
  readonly alsoRuns?: ComputeKind | undefined;
  /** No version runs beside the former one: it takes all calls at once. */
  readonly isAtOnce?: boolean | undefined;
  /** Lambda's quota of the account, where neither the settings nor the default say it. */
  readonly accountConcurrency?: number | undefined;
}

/** What differs from what stands there, and how one gets from one to the other. */
export interface PlannedChange extends Pick<ThisDeployment, 'alsoAccepts' | 'alsoRuns'> {
  /** For the operator to confirm, a sentence without its subject. */
  readonly question?: string;
  /** Told at the end of a deployment that is to be followed by another one. */
  readonly next?: string;
}

const names: ReadonlyArray<keyof ThisDeployment> = [
  'firstDeployment',
  'importsIn',
  'isImportingRestored',
  'alsoAccepts',
  'alsoRuns',
  'isAtOnce',
  'accountConcurrency',
];

/** For the command line of cdk. */
export const contextOf = (deployment: ThisDeployment): string[] =>
  names.flatMap((name) => (deployment[name] ? ['--context', `${name}=${deployment[name]}`] : []));

/** What `contextOf` wrote. `read` gives a context value by its name: a text, or undefined. */
export function readContext(read: (name: string) => unknown): ThisDeployment {
  const written = names.map((name): [string, unknown] => [name, read(name)]);
  const readValue = (text: unknown) => (text === 'true' ? true : /^\d+$/.test(String(text)) ? Number(text) : text);
  return Object.fromEntries(written.map(([name, text]) => [name, name === 'alsoAccepts' ? text : readValue(text)]));
}

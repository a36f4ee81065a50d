// Options of one deployment of one stage, which the next one does not know: `npm run deploy` passes them to the app, as
// context of these names behind that of the stage. Without the CDK library, so that scripts load fast.
import type { StageSettings } from './settings-schema.ts';

export type ComputeKind = StageSettings['compute'];

export interface ThisDeployment {
  /**
   * Omits protection that would keep CloudFormation from removing a data stack whose first deployment failed:
   * termination protection of the stack, and deletion protection of tables that it creates.
   */
  readonly firstDeployment?: boolean | undefined;
  /** `account/region` of the stage: existing tables and bucket outside the stack are imported. */
  readonly importsIn?: string | undefined;
  /** Restored tables are imported as DynamoDB made them; the next run applies the settings. */
  readonly isImportingRestored?: boolean | undefined;
  /** Whom the functions accept beside whom the settings name: a former origin secret by its number, or `direct`. */
  readonly alsoAccepts?: string | undefined;
  /** The former compute, whose running calls end there. */
  readonly alsoRuns?: ComputeKind | undefined;
  /** No version runs beside the former one: the new one gets all calls at once. */
  readonly isAtOnce?: boolean | undefined;
  /** Lambda's quota of the account, where neither the settings nor the default say it. */
  readonly accountConcurrency?: number | undefined;
}

/** Differences from the deployed stage, and the deployments that lead from one to the other. */
export interface DeploymentChange extends Pick<ThisDeployment, 'alsoAccepts' | 'alsoRuns'> {
  /** Question for the operator, as a sentence without its subject. */
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

const contextName = (stage: string, name: keyof ThisDeployment): string => `${stage}.${name}`;

/** Context flags for the command line of cdk. The app has all stages: the flags say which one they mean. */
export const contextOf = (stage: string, deployment: ThisDeployment): string[] =>
  names.flatMap((name) => (deployment[name] ? ['--context', `${contextName(stage, name)}=${deployment[name]}`] : []));

/** Reads the output of `contextOf`. `read` returns a context value by its name: a text, or undefined. */
export function readContext(stage: string, read: (name: string) => unknown): ThisDeployment {
  const written = names.map((name): [string, unknown] => [name, read(contextName(stage, name))]);
  const readValue = (text: unknown) => (text === 'true' ? true : /^\d+$/.test(String(text)) ? Number(text) : text);
  return Object.fromEntries(written.map(([name, text]) => [name, name === 'alsoAccepts' ? text : readValue(text)]));
}

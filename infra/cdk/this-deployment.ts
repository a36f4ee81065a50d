// Declares options of one deployment of one stage, which the next deployment does not know: `npm run deploy` passes
// them to the app, as context of these names after the name of the stage. Does not import the CDK library, so that
// scripts load fast.
import type { StageSettings } from './settings-schema.ts';

export type ComputeKind = StageSettings['compute'];

export interface ThisDeployment {
  /**
   * Omits protection that would prevent CloudFormation from removing a data stack whose first deployment failed:
   * termination protection of the stack, and deletion protection of tables that it creates.
   */
  readonly firstDeployment?: boolean | undefined;
  /** `account/region` of the stage: existing tables and bucket outside the stack are imported. */
  readonly importsIn?: string | undefined;
  /** Restored tables are imported as DynamoDB made them; the next run applies the settings. */
  readonly isImportingRestored?: boolean | undefined;
  /**
   * Callers that the functions accept in addition to those of the settings: a former origin secret by its number, or
   * `direct`.
   */
  readonly alsoAccepts?: string | undefined;
  /** The former compute, whose running calls end there. */
  readonly alsoRuns?: ComputeKind | undefined;
  /** Whether the new version gets all calls at once, and never runs at the same time as the former version. */
  readonly isAtOnce?: boolean | undefined;
  /** Lambda's quota of the account, if neither the settings nor the default contain it. */
  readonly accountConcurrency?: number | undefined;
}

/** Describes the differences from the deployed stage, and the deployments that lead from one to the other. */
export interface DeploymentChange extends Pick<ThisDeployment, 'alsoAccepts' | 'alsoRuns'> {
  /** Question for the operator, as a sentence without its subject. */
  readonly question?: string;
  /** Line that is printed at the end of a deployment after which another deployment is necessary. */
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

/**
 * Returns context flags for the command line of cdk. The app has all stages, so the flags say which stage they mean.
 */
export const contextOf = (stage: string, deployment: ThisDeployment): string[] =>
  names.flatMap((name) => (deployment[name] ? ['--context', `${contextName(stage, name)}=${deployment[name]}`] : []));

/** Reads the output of `contextOf`. `read` returns a context value by its name: a text, or undefined. */
export function readContext(stage: string, read: (name: string) => unknown): ThisDeployment {
  const written = names.map((name): [string, unknown] => [name, read(contextName(stage, name))]);
  const readValue = (text: unknown) => (text === 'true' ? true : /^\d+$/.test(String(text)) ? Number(text) : text);
  return Object.fromEntries(written.map(([name, text]) => [name, name === 'alsoAccepts' ? text : readValue(text)]));
}

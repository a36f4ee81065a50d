// Declares options of one deployment of one stage, which the next deployment does not know. `npm run deploy` passes the
// options to the app, as context with the name of the stage and the name of the option. Does not import the CDK
// library, so that scripts load fast.
import type { StageSettings } from './settings-schema.ts';

export type ComputeKind = StageSettings['compute'];

export interface ThisDeployment {
  /**
   * Omits protection that would prevent CloudFormation from removing a data stack whose first deployment failed:
   * termination protection of the stack, and deletion protection of tables that it creates.
   */
  readonly firstDeployment?: boolean | undefined;
  /** `account/region` of the stage, if existing tables and bucket outside the stack are imported. */
  readonly importsIn?: string | undefined;
  /** Restored tables are imported as DynamoDB made them; the next run applies the settings. */
  readonly isImportingRestored?: boolean | undefined;
  /**
   * Callers that the functions accept in addition to the callers of the settings: a former origin secret by its number,
   * or `direct`.
   */
  readonly alsoAccepts?: string | undefined;
  /** The former compute, in which running calls end. */
  readonly alsoRuns?: ComputeKind | undefined;
  /** Whether the new version gets all calls at once, and never runs at the same time as the former version. */
  readonly isAtOnce?: boolean | undefined;
  /** Lambda's quota of the account, if neither the settings nor the default contain it. */
  readonly accountConcurrency?: number | undefined;
}

/** Describes the differences from the deployed stage, and the deployments that lead to the new settings. */
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
 * Returns context flags for the command line of cdk. The app has all stages, so each flag contains the name of the
 * stage.
 */
export const contextOf = (stage: string, deployment: ThisDeployment): string[] =>
  names.flatMap((name) => (deployment[name] ? ['--context', `${contextName(stage, name)}=${deployment[name]}`] : []));

/** Reads the output of `contextOf`. `read` returns a context value by its name: a text, or undefined. */
export function readContext(stage: string, read: (name: string) => unknown): ThisDeployment {
  const written = names.map((name): [string, unknown] => [name, read(contextName(stage, name))]);
  const readValue = (text: unknown) => (text === 'true' ? true : /^\d+$/.test(String(text)) ? Number(text) : text);
  return Object.fromEntries(written.map(([name, text]) => [name, name === 'alsoAccepts' ? text : readValue(text)]));
}

// Evaluates the policies that a template attaches to roles and to resources as IAM does, as far as this project writes
// them. An unknown condition operator or an unknown kind of principal fails the test.
import type { Template } from 'aws-cdk-lib/assertions';
import { resourcesOf } from './synthesized-stage.ts';

/** A call to AWS, as IAM evaluates it. */
export interface AwsCall {
  readonly action: string;
  readonly resource: string;
  readonly context?: Readonly<Record<string, string>>;
}

/** A service of AWS, or an identity of an account whose own policies allow the call. */
export type Caller = { readonly service: string } | { readonly account: string; readonly role?: string };

interface Statement {
  readonly Effect: string;
  readonly Principal?: string | Readonly<Record<string, unknown>>;
  readonly Action: string | readonly string[];
  readonly Resource?: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface PolicyDocument {
  readonly Statement: readonly Statement[];
}

/** Returns values that exist only in an account, by what the template refers to. */
export type Resolve = (reference: string) => string;

class StatementReader {
  readonly #resolve: Resolve;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  covers({ Action, Resource, Condition = {} }: Statement, { action, resource, context = {} }: AwsCall): boolean {
    return (
      [Action].flat().some((pattern) => matches(pattern, action)) &&
      (Resource === undefined || [Resource].flat().some((pattern) => matches(this.text(pattern), resource))) &&
      Object.entries(Condition).every(([operator, keys]) => this.#holds(operator, keys, context))
    );
  }

  names(principal: Statement['Principal'], caller: Caller): boolean {
    if (principal === '*') return true;
    return Object.entries(principal ?? {}).some(([kind, values]) =>
      [values].flat().some((value) => this.#isCaller(kind, this.text(value), caller)),
    );
  }

  #isCaller(kind: string, name: string, caller: Caller): boolean {
    if (kind === 'Service') return 'service' in caller && caller.service === name;
    if (kind !== 'AWS') throw new Error(`principals of the kind ${kind} are not known here`);
    if (name === '*') return true;
    if ('service' in caller) return false;
    // The root of an account includes each of its identities whose own policies allow the call.
    return name.endsWith(`::${caller.account}:root`) || name === caller.role;
  }

  #holds(
    operator: string,
    keys: Readonly<Record<string, unknown>>,
    context: Readonly<Record<string, string>>,
  ): boolean {
    const compare = comparisons[operator];
    if (compare === undefined) throw new Error(`${operator} is not known here`);
    return Object.entries(keys).every(([key, values]) => {
      const value = context[key];
      return value !== undefined && [values].flat().some((expected) => compare(value, this.text(expected)));
    });
  }

  text(value: unknown): string {
    if (typeof value !== 'object' || value === null) return String(value);
    const [[name, argument] = []] = Object.entries(value as Record<string, unknown>);
    if (name === 'Fn::Join') {
      const [separator, parts] = argument as [string, unknown[]];
      return parts.map((part) => this.text(part)).join(separator);
    }
    if (name === 'Ref') return this.#resolve(String(argument));
    if (name === 'Fn::GetStackOutput') return this.#resolve((argument as { OutputName: string }).OutputName);
    return this.#resolve(JSON.stringify(value));
  }
}

const matches = (pattern: string, text: string): boolean =>
  new RegExp(
    `^${pattern
      .replaceAll(/[^\w*?]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  ).test(text);

const comparisons: Readonly<Record<string, (value: string, expected: string) => boolean>> = {
  StringEquals: (value, expected) => value === expected,
  'ForAnyValue:StringEquals': (value, expected) => value === expected,
  ArnLike: (value, expected) => matches(expected, value),
  Bool: (value, expected) => value === expected,
  NumericLessThan: (value, expected) => Number(value) < Number(expected),
};

/** Evaluates a role's own policies. */
export class RolePolicy {
  readonly #statements: readonly Statement[];
  readonly #reader: StatementReader;

  /** Reads all policies whose logical id begins with `prefix`. */
  constructor(template: Template, prefix: string, resolve: Resolve) {
    this.#reader = new StatementReader(resolve);
    this.#statements = resourcesOf(template, 'AWS::IAM::Policy')
      .filter(({ id }) => id.startsWith(prefix))
      .flatMap(({ Properties }) => (Properties.PolicyDocument as PolicyDocument).Statement);
    const denying = this.#statements.filter(({ Effect }) => Effect !== 'Allow');
    if (this.#statements.length === 0 || denying.length > 0)
      throw new Error(`the policies of ${prefix} are not read here`);
  }

  allows(call: AwsCall): boolean {
    return this.#statements.some((statement) => this.#reader.covers(statement, call));
  }
}

/**
 * A decision. `none` means that no statement is about this call: a service is then refused, and for an identity its own
 * policies decide.
 */
export type Decision = 'allow' | 'deny' | 'none';

/** Evaluates the policy of a topic, a bucket, a key, a function or a role. */
export class ResourcePolicy {
  readonly #statements: readonly Statement[];
  readonly #reader: StatementReader;

  constructor(document: unknown, resolve: Resolve) {
    this.#statements = (document as PolicyDocument).Statement;
    this.#reader = new StatementReader(resolve);
  }

  decide(caller: Caller, call: AwsCall): Decision {
    const effects = this.#statements
      .filter((statement) => this.#reader.names(statement.Principal, caller) && this.#reader.covers(statement, call))
      .map(({ Effect }) => Effect);
    if (effects.includes('Deny')) return 'deny';
    return effects.includes('Allow') ? 'allow' : 'none';
  }
}

interface PermissionProperties {
  readonly Action: string;
  readonly Principal: string;
  readonly FunctionName: unknown;
  readonly FunctionUrlAuthType?: string;
  readonly InvokedViaFunctionUrl?: boolean;
}

/** Lambda derives the policy of a function from its permissions. */
export function functionPolicy(template: Template, functionId: string, resolve: Resolve): ResourcePolicy {
  const Statement = resourcesOf(template, 'AWS::Lambda::Permission')
    .map(({ Properties }) => Properties as unknown as PermissionProperties)
    .filter(({ FunctionName }) => JSON.stringify(FunctionName).includes(`"${functionId}"`))
    .map(({ Action, Principal, FunctionUrlAuthType: authType, InvokedViaFunctionUrl: isByUrl }) => ({
      Effect: 'Allow',
      Action,
      Principal: Principal === '*' ? Principal : { Service: Principal },
      Condition: {
        ...(authType === undefined ? {} : { StringEquals: { 'lambda:FunctionUrlAuthType': authType } }),
        ...(isByUrl === undefined ? {} : { Bool: { 'lambda:InvokedViaFunctionUrl': isByUrl } }),
      },
    }));
  return new ResourcePolicy({ Statement }, resolve);
}

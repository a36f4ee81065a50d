// IAM's decision for the policies that a template attaches to a role, as far as this project writes them: Allow
// statements, exact actions, resources with `*`, and the conditions StringEquals and ArnLike.
import type { Template } from 'aws-cdk-lib/assertions';
import { resourcesOf } from './synthesized-stage.ts';

/** A call to AWS, as IAM sees it. */
export interface AwsCall {
  readonly action: string;
  readonly resource: string;
  readonly context?: Readonly<Record<string, string>>;
}

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Values that exist only in an account, by what the template refers to. */
export type Resolve = (reference: string) => string;

export class RolePolicy {
  readonly #statements: readonly Statement[];
  readonly #resolve: Resolve;

  /** All policies whose logical id begins with `prefix`. */
  constructor(template: Template, prefix: string, resolve: Resolve) {
    this.#resolve = resolve;
    this.#statements = resourcesOf(template, 'AWS::IAM::Policy')
      .filter(({ id }) => id.startsWith(prefix))
      .flatMap(({ Properties }) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement);
    const denying = this.#statements.filter(({ Effect }) => Effect !== 'Allow');
    if (this.#statements.length === 0 || denying.length > 0)
      throw new Error(`the policies of ${prefix} are not read here`);
  }

  allows({ action, resource, context = {} }: AwsCall): boolean {
    return this.#statements.some(
      ({ Action, Resource, Condition = {} }) =>
        [Action].flat().includes(action) &&
        [Resource].flat().some((pattern) => matches(this.#text(pattern), resource)) &&
        Object.entries(Condition).every(([operator, keys]) => this.#holds(operator, keys, context)),
    );
  }

  #holds(
    operator: string,
    keys: Readonly<Record<string, unknown>>,
    context: Readonly<Record<string, string>>,
  ): boolean {
    if (operator !== 'StringEquals' && operator !== 'ArnLike') throw new Error(`${operator} is not known here`);
    return Object.entries(keys).every(([key, values]) => {
      const value = context[key];
      if (value === undefined) return false;
      return [values].flat().some((expected) => {
        const text = this.#text(expected);
        return operator === 'ArnLike' ? matches(text, value) : text === value;
      });
    });
  }

  #text(value: unknown): string {
    if (typeof value === 'string') return value;
    const [[name, argument] = []] = Object.entries(value as Record<string, unknown>);
    if (name === 'Fn::Join') {
      const [separator, parts] = argument as [string, unknown[]];
      return parts.map((part) => this.#text(part)).join(separator);
    }
    if (name === 'Ref') return this.#resolve(String(argument));
    if (name === 'Fn::GetStackOutput') return this.#resolve((argument as { OutputName: string }).OutputName);
    return this.#resolve(JSON.stringify(value));
  }
}

const matches = (pattern: string, text: string): boolean =>
  new RegExp(`^${pattern.replaceAll(/[^\w*]/g, '\\$&').replaceAll('*', '.*')}$`).test(text);

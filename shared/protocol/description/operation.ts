// What an interface says of its operation, for the description of the whole interface. Types, and words that several use.
import { headerNames } from '../../foundation/constants/index.ts';
import type { JsonSchema } from './json-schema.ts';

export interface InterfaceOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly body: VendorBody | DescribedBody;
  /** Headers of requests that are the vendor's, and of its answers. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  readonly answerHeaders?: Readonly<Record<string, string>>;
}

/** A body of a vendor: the fields that the gateway reads, beside its own. */
export interface VendorBody {
  readonly kind: 'vendor';
  readonly members: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly example: Readonly<Record<string, unknown>>;
  readonly answer: JsonSchema;
  /** In place of JSON. */
  readonly answerTypes?: Readonly<Record<string, JsonSchema>>;
  readonly streams: boolean;
  /** Its body may be a form, or must be one: with these files, `needed` by one of its names. */
  readonly form?: {
    readonly files: Readonly<Record<string, JsonSchema>>;
    readonly needed: readonly [string, ...string[]];
    readonly isOnly?: true;
  };
}

/** A body that is described whole, by named schemas. */
export interface DescribedBody {
  readonly kind: 'described';
  readonly bounds: string;
  readonly schema: JsonSchema;
  readonly examples: Readonly<Record<string, unknown>>;
  readonly answers: Readonly<Record<string, unknown>>;
}

export const passedHeaders = { 'openai-beta': 'Reaches the provider.' };
export const costHeader = { [headerNames.cost]: 'What a JSON answer costs, in USD.' };

/** A file of a form. */
export const binary: JsonSchema = { type: 'string', format: 'binary' };

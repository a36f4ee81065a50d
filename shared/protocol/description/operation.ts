// Defines the operation of an interface for the OpenAPI document: types, and schemas that several interfaces use.
import { headerNames } from '../../foundation/constants/index.ts';
import type { JsonSchema } from './json-schema.ts';

export interface InterfaceOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly body: VendorBody | DescribedBody;
  /** The vendor's own headers of requests, then of answers. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  readonly answerHeaders?: Readonly<Record<string, string>>;
}

/** A body of a vendor, with the fields that the gateway reads in addition to its own fields. */
export interface VendorBody {
  readonly kind: 'vendor';
  readonly members: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly example: Readonly<Record<string, unknown>>;
  readonly answer: JsonSchema;
  /** Media types of an answer that is not JSON. */
  readonly answerTypes?: Readonly<Record<string, JsonSchema>>;
  readonly streams: boolean;
  /**
   * Set if the body may be a form, or must be a form. `files` are the form's files, and `needed` are the required
   * files.
   */
  readonly form?: {
    readonly files: Readonly<Record<string, JsonSchema>>;
    readonly needed: readonly [string, ...string[]];
    readonly isOnly?: true;
  };
}

/** A body that named schemas describe completely. */
export interface DescribedBody {
  readonly kind: 'described';
  readonly bounds: string;
  readonly schema: JsonSchema;
  readonly examples: Readonly<Record<string, unknown>>;
  readonly answers: Readonly<Record<string, unknown>>;
}

export const passedHeaders = { 'openai-beta': 'Reaches the provider.' };
export const costHeader = { [headerNames.cost]: 'What a JSON answer costs, in USD.' };

/** Schema of a form's file. */
export const binary: JsonSchema = { type: 'string', format: 'binary' };

// An operation that answers with JSON, and its parameters.
import { type ErrorCode, okStatus } from '../../../shared/errors/index.ts';
import { errorResponses } from './error-responses.ts';
import { responseHeaders } from './headers.ts';
import { type JsonSchema, text } from './json-schema.ts';

interface JsonOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly answer: JsonSchema;
  /** What the answer is. */
  readonly says: string;
  readonly codes: readonly ErrorCode[];
}

export const jsonOperation = ({ answer, says, codes, ...operation }: JsonOperation) => ({
  ...operation,
  responses: {
    [okStatus]: {
      description: says,
      headers: responseHeaders.onEvery,
      content: { 'application/json': { schema: answer } },
    },
    ...errorResponses(codes),
  },
});

const parameter =
  (place: 'query' | 'path') =>
  (name: string, description: string, schema: JsonSchema = text) => ({
    name,
    in: place,
    required: place === 'path',
    description,
    schema,
  });
export const inQuery = parameter('query');
export const inPath = parameter('path');

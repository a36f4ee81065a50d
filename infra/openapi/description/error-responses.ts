// Describes the errors as answers of an operation, made by the code that writes error answers, and as the table of
// README.md.
import { type ErrorCode, errorCatalogue, GatewayError, okStatus, toEnvelope } from '../../../shared/errors/index.ts';
import { type JsonSchema, schemaReference, text } from '../../../shared/protocol/description/index.ts';
import { errorGuide } from './error-guide.ts';
import { responseHeaders } from './headers.ts';

const errorCodes = Object.keys(errorCatalogue) as ErrorCode[];

/** Codes that only the management interface answers with. */
const manageOnlyCodes: readonly ErrorCode[] = ['forbidden', 'precondition_failed'];

/** Errors of GET /v1/models, which has no body, calls no provider and costs nothing. */
const modelsCodes: readonly ErrorCode[] = [
  'invalid_correlation',
  'UNAUTHORIZED',
  'not_found',
  'method_not_allowed',
  'internal_error',
  'RATE_LIMITER_UNAVAILABLE',
];

/** Errors of the account interface, in which a request counts towards the key's limit. */
const accountCodes: readonly ErrorCode[] = [...modelsCodes, 'api_key_rate_limit'];

export const codesOf = {
  chat: errorCodes.filter((code) => !manageOnlyCodes.includes(code)),
  models: modelsCodes,
  model: ['unknown_model', ...modelsCodes] satisfies ErrorCode[],
  health: ['not_found', 'method_not_allowed', 'internal_error'] satisfies ErrorCode[],
  account: accountCodes,
  generation: ['invalid_request', ...accountCodes] satisfies ErrorCode[],
  storedResponse: [
    ...accountCodes,
    'invalid_request',
    'unknown_model',
    'model_not_routable',
    'rate_limited',
    'no_available_provider',
    'provider_not_configured',
    'request_deadline_exceeded',
    'byok_credential_unsupported',
    'byok_credential_conflict',
    'byok_not_enabled',
    'byok_no_eligible_connection',
  ] satisfies ErrorCode[],
};

const exampleId = '019a2f0e-7c1b-7e55-9d0a-3f1d2c4b5a69';

const envelopeOf = (code: ErrorCode, extras: { isFinal?: boolean } = {}) =>
  toEnvelope(new GatewayError(code, code === 'schema_validation_failed' ? { attempts: 3 } : extras), exampleId);

/** Codes whose retry can only succeed in some cases. */
const mayBeFinal: readonly ErrorCode[] = ['no_available_provider', 'execution_failed'];

const headersOf = (code: ErrorCode): string[] =>
  Object.keys({
    ...envelopeOf(code).headers,
    ...(mayBeFinal.includes(code) ? envelopeOf(code, { isFinal: true }).headers : {}),
  });

/** Returns status → response, in the order of statuses. */
export function errorResponses(codes: readonly ErrorCode[]): Record<string, unknown> {
  const byStatus = Object.groupBy(codes, (code) => errorCatalogue[code].status);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, found]) => [status, errorResponse(Number(status), found ?? [])]),
  );
}

function errorResponse(status: number, codes: readonly ErrorCode[]) {
  const headerNames = new Set(codes.flatMap(headersOf));
  const headers = Object.entries(responseHeaders.onErrors).filter(
    ([name]) => headerNames.has(name) || (name === 'allow' && status === errorCatalogue.method_not_allowed.status),
  );
  return {
    description: codes.map((code) => `- \`${code}\`: ${errorGuide[code].cause}`).join('\n'),
    headers: { ...responseHeaders.onEvery, ...Object.fromEntries(headers) },
    content: {
      'application/json': {
        schema: {
          anyOf: [
            { allOf: [schemaReference('Error')], properties: { error: { enum: codes } } },
            schemaReference('OpenAiError'),
          ],
        },
        examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code)])),
      },
    },
  };
}

const exampleOf = (code: ErrorCode) => ({
  summary: errorCatalogue[code].message,
  description: errorGuide[code].solution,
  value: JSON.parse(envelopeOf(code).body),
});

/** Returns the extension `x-gw-errors` of the document, which describes every code in one place, for tools. */
export const errorTable = (): Record<string, unknown> =>
  Object.fromEntries(
    errorCodes.map((code) => {
      const { status, retry } = errorCatalogue[code];
      return [code, { status, retry, ...errorGuide[code] }];
    }),
  );

const serverFault = 500;

function adviceOf(code: ErrorCode): string {
  const { retry, status } = errorCatalogue[code];
  if (retry === 'wait' || retry === 'soon') return 'after `Retry-After`';
  return retry === 'none' && status >= serverFault ? 'may help' : 'no';
}

export const errorColumns = ['status', 'code', 'cause', 'solution', 'again?'] as const;

/** Returns one row for each code, in the order of statuses. */
export const errorRows = (): string[][] =>
  errorCodes
    .map((code) => ({ code, status: errorCatalogue[code].status }))
    .sort((a, b) => a.status - b.status)
    .map(({ code, status }) => [
      String(status),
      `\`${code}\``,
      errorGuide[code].cause,
      errorGuide[code].solution,
      adviceOf(code),
    ]);

const toLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

export const errorsPage = (): string =>
  [toLine(errorColumns), toLine(errorColumns.map(() => '---')), ...errorRows().map(toLine)].join('\n');

// Describes an operation that answers with JSON, and its parameters.

interface JsonOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly answer: JsonSchema;
  /** Description of the answer. */
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

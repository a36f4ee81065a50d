// Common parts of every error answer, asserted here for all tests.
import { expect } from '#jest';

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly correlation_id: string;
  readonly reason?: string;
  readonly detail?: { readonly attempts: number };
}

/** Fields in addition to the three that every envelope has. */
type Extras = Partial<Pick<ErrorBody, 'reason' | 'detail'>>;

/** Asserts code, status, the exact fields of the envelope and its headers, and that no internals are exposed. */
export async function expectError(
  response: Response,
  status: number,
  code: string,
  extras: Extras = {},
): Promise<ErrorBody> {
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status, text: expect.stringContaining(`"${code}"`) });
  expect(response.headers.get('content-type')).toBe('application/json');
  const body = plainErrorOf(JSON.parse(text));
  expect(body).toEqual({ error: code, message: expect.any(String), correlation_id: expect.any(String), ...extras });
  expect(body.message.length).toBeGreaterThan(0);
  expect(body.correlation_id).toMatch(uuid);
  expect(response.headers.get('x-request-id')).toBe(body.correlation_id);
  expect(response.headers.get('x-gw-trace-id')).toBeTruthy();
  expectNothingOfOurInside(text);
  return body;
}

interface MessagesError extends Omit<ErrorBody, 'error' | 'message'> {
  readonly type: 'error';
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly details: { readonly error_code: string };
  };
  readonly error_code: string;
}

/** AWS's format names the code in this way. */
type AwsError = Omit<ErrorBody, 'error'> & { readonly code: string };

/** Google's format has the code and the other fields in its details. */
interface GoogleError extends Omit<ErrorBody, 'error' | 'message'> {
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly details: readonly GoogleDetail[];
  };
}

interface GoogleDetail {
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

const isGoogles = (body: object): body is GoogleError =>
  'error' in body &&
  typeof body.error === 'object' &&
  body.error !== null &&
  'details' in body.error &&
  'status' in body.error;

/** Returns the envelope in the form of /v1, whatever the format of its interface. */
export function plainErrorOf(body: ErrorBody | MessagesError | AwsError | GoogleError): ErrorBody {
  if (isGoogles(body)) {
    const { details, message } = body.error;
    const { reason = '', metadata } = details[0] ?? {};
    return { error: reason, message, ...metadata } as unknown as ErrorBody;
  }
  if ('code' in body) {
    const { code: error, ...rest } = body;
    return { error, ...rest };
  }
  if (!('type' in body)) return body;
  const { type: _form, error, error_code: code, ...rest } = body;
  expect(error.details.error_code).toBe(code);
  return { error: code, message: error.message, ...rest };
}

/** Expects no stack traces and no internal paths. */
export const expectNothingOfOurInside = (text: string): void =>
  expect(text).not.toMatch(/\.[jt]s\b|node_modules|\bat \w+ \(|\/work\/|\/var\/task|DynamoDB|sk-gw-/i);

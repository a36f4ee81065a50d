// Describes a failure as one line for the operator. Only the message of an error is shown, because messages of AWS and
// DynamoDB may name tables and accounts, but never a secret of this gateway.

import { StoreFileRefused } from '../../../shared/storage/sqlite-store/index.ts';
import { neverConnected, StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { describeTarget, noTablesIn, type Target } from '../target/target.ts';
import { oneLine } from './format.ts';

export function describeFailure(error: unknown, target: Target): string {
  const unavailable = error instanceof StoreUnavailable ? describeUnavailable(error.cause, target) : undefined;
  const message =
    unavailable ??
    describeUnreachable(error, target) ??
    describeAws(error) ??
    (error instanceof Error ? messageOf(rootOf(error)) || error.message : 'unknown failure');
  return oneLine(message);
}

/** Returns whether a table of the store is missing; usually all tables are missing. */
export const isTableMissing = (error: unknown): boolean =>
  error instanceof StoreUnavailable && nameOf(error.cause) === 'ResourceNotFoundException';

function describeUnavailable(cause: unknown, target: Target): string {
  if (cause instanceof StoreFileRefused) return cause.message;
  if (nameOf(cause) === 'ResourceNotFoundException') {
    return target.kind === 'stage'
      ? `${describeTarget(target)} has no tables in this account and region: deploy it first (npm run deploy)`
      : noTablesIn(target);
  }
  return (
    describeUnreachable(cause, target) ?? describeAws(cause) ?? `the store is unavailable (${causeOf(rootOf(cause))})`
  );
}

/** Returns undefined if the server answered, or if the server is AWS itself. */
const describeUnreachable = (error: unknown, target: Target): string | undefined =>
  target.kind !== 'stage' && neverConnected(error) ? `no DynamoDB answers at ${describeTarget(target)}` : undefined;

/** Describes that the shell cannot sign in, or is refused. Returns undefined for any other error. */
function describeAws(error: unknown): string | undefined {
  const name = nameOf(error);
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError') {
    return `no AWS credentials: sign in or set AWS_PROFILE (${messageOf(error)})`;
  }
  if (messageOf(error) === 'Region is missing') return 'no AWS region: set AWS_REGION, or a region in the AWS profile';
  const isRefused = /^(AccessDenied|ExpiredToken|UnrecognizedClient|InvalidSignature|InvalidClientTokenId)/.test(name);
  return isRefused ? `AWS refused: ${name}: ${messageOf(error)}` : undefined;
}

/** Returns the error; for a host with several addresses, the error of the first. */
const rootOf = (error: unknown): unknown => (error instanceof AggregateError ? error.errors[0] : error);

const causeOf = (error: unknown): string => [nameOf(error), messageOf(error)].filter((part) => part !== '').join(': ');
/** Returns the service's own name of a fault, if a service answered. */
const nameOf = (error: unknown): string => String(memberOf(error, 'name') ?? '');
const messageOf = (error: unknown): string => String(memberOf(error, 'message') ?? '');
const memberOf = (error: unknown, member: string): unknown =>
  (error as Record<string, unknown> | null | undefined)?.[member];

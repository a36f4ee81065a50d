// Lists the words of errors in the formats of Google and AWS for every status of the table of codes, and so for every
// code.
import type { ErrorStatus } from './error-table.ts';

interface VendorWords {
  /** `error.status` in Google's format, which is a name of google.rpc.Code. */
  readonly google: string;
  /**
   * The exception in AWS's format, which is an exception of Bedrock's runtime if the runtime has an exception for the
   * case.
   */
  readonly aws: string;
}

export const vendorWords: Readonly<Record<ErrorStatus, VendorWords>> = {
  400: { google: 'INVALID_ARGUMENT', aws: 'ValidationException' },
  401: { google: 'UNAUTHENTICATED', aws: 'AccessDeniedException' },
  402: { google: 'FAILED_PRECONDITION', aws: 'AccessDeniedException' },
  403: { google: 'PERMISSION_DENIED', aws: 'AccessDeniedException' },
  404: { google: 'NOT_FOUND', aws: 'ResourceNotFoundException' },
  405: { google: 'UNIMPLEMENTED', aws: 'UnknownOperationException' },
  409: { google: 'ABORTED', aws: 'ConflictException' },
  412: { google: 'FAILED_PRECONDITION', aws: 'ConflictException' },
  413: { google: 'INVALID_ARGUMENT', aws: 'ValidationException' },
  422: { google: 'INVALID_ARGUMENT', aws: 'ValidationException' },
  429: { google: 'RESOURCE_EXHAUSTED', aws: 'ThrottlingException' },
  500: { google: 'INTERNAL', aws: 'InternalServerException' },
  502: { google: 'UNAVAILABLE', aws: 'ModelErrorException' },
  503: { google: 'UNAVAILABLE', aws: 'ServiceUnavailableException' },
  504: { google: 'DEADLINE_EXCEEDED', aws: 'ModelTimeoutException' },
};

import type { ErrorCode } from '../../../shared/errors/index.ts';
import { addedErrors, byokErrors, functionErrors } from './function-errors.ts';
import { gatewayErrors } from './gateway-errors.ts';
import type { ErrorGuide } from './guide.ts';

export type { ErrorGuide } from './guide.ts';

/** Cause and cure of every code. */
export const errorGuide: Readonly<Record<ErrorCode, ErrorGuide>> = {
  ...gatewayErrors,
  ...functionErrors,
  ...byokErrors,
  ...addedErrors,
};

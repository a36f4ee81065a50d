import { describe, expect, it } from '#jest';
import { errorCatalogue, errorFamilies } from '../../shared/errors/index.ts';

/** The tables of the specification (7.1 to 7.3), row by row: status and code. */
const gatewayRows = `
400 invalid_request
400 unknown_model
400 model_not_routable
400 invalid_sort
400 feature_unsupported
400 invalid_response_schema
400 schema_streaming_unsupported
400 invalid_correlation
401 UNAUTHORIZED
402 PAYMENT_REQUIRED
402 price_cap_exceeded
404 preset_not_found
409 idempotency_conflict
409 duplicate_span_id
422 no_policy_compliant_provider
422 data_policy_loosening_forbidden
422 structured_output_unsupported
422 schema_validation_failed
429 rate_limited
502 no_available_provider
503 RATE_LIMITER_UNAVAILABLE
503 provider_not_configured
504 request_deadline_exceeded`;
const functionRows = `
400 invalid_function_alias
400 invalid_function_request
400 function_requires_managed_funding
401 api_key_revoked
402 spend_limit_exceeded
404 function_not_found
404 revision_not_available
409 function_disabled
409 qualification_expired
409 idempotency_conflict
409 execution_in_progress
409 execution_disabled
413 request_too_large
429 api_key_rate_limit
429 execution_capacity
502 execution_failed
504 execution_deadline_exceeded`;
const byokRows = `
400 byok_provider_required
400 byok_credential_unsupported
400 byok_credential_conflict
402 byok_budget_exceeded
403 byok_not_enabled
422 byok_no_eligible_connection
422 byok_budget_unquotable`;
const additionRows = `
403 forbidden
412 precondition_failed
404 not_found
405 method_not_allowed
500 internal_error`;

const rowsOf = (table: string): string[] => table.trim().split('\n');
const rowsIn = (family: Record<string, { status: number }>): string[] =>
  Object.entries(family).map(([code, { status }]) => `${status} ${code}`);

describe('the table of errors', () => {
  it('has the 47 rows of the specification', () => {
    expect([gatewayRows, functionRows, byokRows].flatMap(rowsOf)).toHaveLength(47);
  });

  it.each([
    ['gateway', gatewayRows, errorFamilies.gateway],
    // One row stands in both tables with the same status; it is written once.
    [
      'functions',
      functionRows,
      { ...errorFamilies.functions, idempotency_conflict: errorCatalogue.idempotency_conflict },
    ],
    ['byok', byokRows, errorFamilies.byok],
    ['additions', additionRows, errorFamilies.additions],
  ])('is equal to the one of the specification, letter case included: %s', (_family, table, family) => {
    expect(rowsIn(family).toSorted()).toEqual(rowsOf(table).toSorted());
  });

  it('has no other code', () => {
    const all = [gatewayRows, functionRows, byokRows, additionRows].flatMap(rowsOf);
    expect(rowsIn(errorCatalogue).toSorted()).toEqual([...new Set(all)].toSorted());
  });

  it('gives every code a message of its own for people', () => {
    const messages = Object.values(errorCatalogue).map(({ message }) => message);
    expect(messages.filter((message) => !/^\w.{10,}\.$/.test(message))).toEqual([]);
    expect(new Set(messages).size).toBe(messages.length);
  });
});

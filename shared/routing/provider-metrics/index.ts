export type { AdmittedCandidate, Attempt } from './attempt.ts';
export { type ProviderMetricsDependencies, reportAttempt, settleAttempts } from './provider-metrics.ts';

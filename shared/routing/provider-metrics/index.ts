export {
  type AdmittedCandidate,
  type Attempt,
  type ProviderMetricsDependencies,
  reportAttempt,
  settleAttempts,
} from './provider-metrics.ts';

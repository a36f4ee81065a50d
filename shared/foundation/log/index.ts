export { describeError, maskKeys, redact } from './describe-error.ts';
export type { Metrics } from './embedded-metrics.ts';
export { escapeControls } from './escape-controls.ts';
export { createLineBatches } from './line-batches.ts';
export { createLog, type Log, type LogFields } from './log.ts';
export { maskCharacter, maskSecrets, maskSecretsAcross } from './mask-secrets.ts';

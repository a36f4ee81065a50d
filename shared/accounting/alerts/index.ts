export type { Alerts, ChargedCounter, EndedAttempt } from './alerts.ts';
export { createAlerts } from './load-alerts.ts';
export { sendTestAlert } from './test-alert.ts';

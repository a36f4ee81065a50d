export { alertBodyExample, alertTypes } from './alert.ts';
export type { Alerts, ChargedCounter, EndedAttempt } from './alerts.ts';
export { type LastShareAlert, readLastOfProvider, readLastShare } from './last-alert.ts';
export { createAlerts } from './load-alerts.ts';
export { sendTestAlert } from './test-alert.ts';

export type { Alerts, ChargedCounter } from './alerts.ts';
export { createAlerts } from './load-alerts.ts';

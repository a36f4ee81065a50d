// Sends alerts to the operator's own receiver. A mark in the item of the money, or of the cooldowns, is claimed by a
// conditional write before an alert is sent. So only one process sends the alert, however many processes observe the
// same state. The code that decides and sends is loaded with the first call of a gateway that has a receiver.
import type { Alerts, AlertsOptions } from './alerts.ts';

export function createAlerts(options: AlertsOptions): Alerts {
  let loading: Promise<Alerts | undefined> | undefined;
  const load = () => {
    loading ??= import('./alert-sender.ts')
      .then(({ createAlertSender }) => createAlertSender(options))
      .catch(
        (error: unknown) => void options.log.error({ event: 'alerts_not_loaded', failed_control: 'alert' }, error),
      );
    return loading;
  };
  return {
    look: async (...seen) => (await load())?.look(...seen),
    close: async () => (await loading)?.close(),
  };
}

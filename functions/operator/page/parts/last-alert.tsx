// Shows the last alert about a limit or a provider in a line of its own.
import { time } from './shown-values.ts';

interface LastAlertProperties {
  readonly subject: string | undefined;
  readonly alert: { readonly at: string; readonly is_delivered: boolean } | null;
}

export const LastAlert = ({ subject, alert }: LastAlertProperties) =>
  alert === null ? null : (
    <span class="muted">{`alerted of ${subject}, ${time(alert.at)}${alert.is_delivered ? '' : ', not delivered'}`}</span>
  );

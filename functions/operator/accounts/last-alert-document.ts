// Describes the last alert of a share for operators.
import type { LastShareAlert } from '../../../shared/accounting/alerts/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';

export const lastAlertDocument = (last: LastShareAlert | null): Documents['ManagedKey']['last_alert'] =>
  last && { percent: last.percent, at: instantOf(last.atMs), is_delivered: last.isDelivered };

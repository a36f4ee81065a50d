// Reads the last alert about one subject, for operators.
import type { Item } from '../../storage/store/index.ts';
import type { ProviderMark, ShareMark } from './alert-mark.ts';

interface LastAlert {
  readonly atMs: number;
  /** False while tries continue, or if the alert was abandoned after three tries. */
  readonly isDelivered: boolean;
}

export interface LastShareAlert extends LastAlert {
  readonly percent: number;
}

interface LastProviderAlert extends LastAlert {
  readonly state: ProviderMark['state'];
  readonly model: string;
}

/** Returns the last alert of a share; null if there was none. */
export function readLastShare(
  item: Item,
  limit: 'own' | 'spend limit of the workspace' = 'own',
): LastShareAlert | null {
  const mark = item[limit === 'own' ? 'alert' : 'alert_limit'] as ShareMark | undefined;
  return mark === undefined ? null : { ...lastAlert(mark), percent: mark.percent };
}

/** Returns the last alert about a provider. `marks` have the format in which they are stored next to cooldowns. */
export function readLastOfProvider(marks: readonly unknown[]): LastProviderAlert | null {
  const known = marks.filter((mark) => mark !== undefined) as ProviderMark[];
  const mark = known.toSorted((one, other) => other.at_ms - one.at_ms)[0];
  if (mark === undefined) return null;
  const { state, model, ...rest } = mark;
  return { ...lastAlert(rest), state, model };
}

const lastAlert = ({ at_ms, tries }: Pick<ShareMark, 'at_ms' | 'tries'>): LastAlert => ({
  atMs: at_ms,
  isDelivered: tries === undefined,
});

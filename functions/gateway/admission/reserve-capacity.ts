// Slots that stand in items of their own: of all calls one of the service, of functions one of the workspace's and one of the
// service's function_concurrency too. A slot is a hold of amount 1, so that of a dead instance comes back at its end.
// Slots are released when the call ends, before the client knows: its next call must find them free.
import type { Hold } from '../../../shared/accounting/holds/index.ts';
import type { SlotHold, SlotPool } from '../../../shared/accounting/slots/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import type { StageResource } from '../../../shared/foundation/constants/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { HeldSlots, IdentifiedCall } from '../stages.ts';
import { type ConcurrencyLimits, concurrencyError, retryAfterSeconds } from './concurrency.ts';
import { type Reservation, type Reserved, refused } from './reservation.ts';

interface Asked {
  readonly holder: Pick<Hold, 'owner' | 'expiresAtMs'>;
  readonly limits: ConcurrencyLimits;
  /** Then the slots of the workspace are no part of its credit. */
  readonly isCreditSharded: boolean;
}

/** Undefined: nothing limits the call. */
export function reserveCapacity(
  { slotPools }: GatewayDependencies,
  call: IdentifiedCall,
  { holder, ...asked }: Asked,
): Reservation | undefined {
  const levels = levelsOf(call, asked);
  if (levels.length === 0) return undefined;
  const taken: SlotHold[] = [];
  const slots: HeldSlots = {
    giveBack: untilDone(async (options) => {
      await Promise.all(taken.map((slot) => slotPools.giveBack(slot, options)));
    }),
    counters: () => taken.map(({ counter }) => counter),
  };
  const giveBack = () => slots.giveBack();
  async function reserve(): Promise<Reserved> {
    // One after the other: two calls that took one level each would refuse each other, and neither would run.
    for (const { pool, error } of levels) {
      const slot = await slotPools.take(pool, holder);
      if (slot === undefined) return { ...refused('capacity', error()), giveBack };
      taken.push(slot);
    }
    return { giveBack, holdings: { slots } };
  }
  return { rank: 'capacity', reserve, giveBackUnknown: giveBack };
}

interface Level {
  readonly pool: SlotPool;
  /** Where it has no slot left. */
  readonly error: () => GatewayError;
}

function levelsOf(
  { asksFunction, workspace, catalogue }: IdentifiedCall,
  { limits, isCreditSharded }: Omit<Asked, 'holder'>,
): readonly Level[] {
  const ofWorkspace = { whose: `The workspace ${workspace.id}` };
  const functionLevel = (owner: SlotOwner, key: string, slots: number | null): Level[] =>
    slots === null || !asksFunction ? [] : [{ pool: { key, slots }, error: () => functionsError(owner, slots) }];
  const level = ({ whose, exhausted }: SlotOwner, key: string, slots: number | null): Level[] =>
    slots === null
      ? []
      : [{ pool: { key, slots }, error: () => concurrencyError(whose, slots, { asksFunction, exhausted }) }];
  const { function_concurrency: ofFunctions } = catalogue.service;
  return [
    ...functionLevel(ofWorkspace, `SLOTS#${workspace.id}`, workspace.function_concurrency),
    ...level(ofWorkspace, `CALLS#${workspace.id}`, isCreditSharded ? limits.workspace : null),
    ...functionLevel({ whose: 'The gateway', exhausted: 'service_function_concurrency' }, 'SLOTS', ofFunctions),
    ...level({ whose: 'The gateway', exhausted: 'service_concurrency' }, 'SERVICECALLS', limits.service),
  ];
}

interface SlotOwner {
  /** For a message. */
  readonly whose: string;
  /** Of the service: what its stage has too little of. */
  readonly exhausted?: StageResource;
}

const functionsError = ({ whose, exhausted }: SlotOwner, limit: number): GatewayError =>
  fail('execution_capacity', {
    retryAfterSeconds,
    ...(exhausted === undefined ? {} : { exhausted }),
    message: `${whose} may run ${limit} functions at once, its function_concurrency, and so many are running; try again in ${retryAfterSeconds} s.`,
  });

/** Done once, however often it is called; a call that failed may be repeated. */
function untilDone(task: HeldSlots['giveBack']): HeldSlots['giveBack'] {
  let isDone = false;
  return async (options) => {
    if (isDone) return;
    await task(options);
    isDone = true;
  };
}

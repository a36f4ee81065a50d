// Slots in items of their own: of every call one of the service, of functions one of the workspace's and one of the
// service's function_concurrency too. A slot is a reservation of amount 1, so that of a dead instance expires. Slots
// are released when the call ends, before the client knows, because its next call must find them free.
import type { Hold } from '../../../shared/accounting/holds/index.ts';
import type { SlotPool } from '../../../shared/accounting/slots/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import type { StageResource } from '../../../shared/foundation/constants/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import { type ConcurrencyLimits, concurrencyError, retryAfterSeconds, serviceError } from './concurrency.ts';
import { type Reservation, type ReservationResult, refused } from './reservation.ts';
import { createPoolSlots, reserveKeyless } from './reserve-keyless.ts';

interface RoundInputs {
  readonly holder: Pick<Hold, 'owner' | 'expiresAtMs'>;
  readonly limits: ConcurrencyLimits;
  /** Then the slots of the workspace are no part of its credit. */
  readonly isCreditSharded: boolean;
}

/** Returns undefined when nothing limits the call. */
export function reserveCapacity(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  { holder, ...inputs }: RoundInputs,
): Reservation | undefined {
  const { slotPools } = deps;
  const { ofKeyless } = inputs.limits;
  if (ofKeyless !== undefined) return reserveKeyless(deps, call, { holder, limits: ofKeyless });
  const levels = levelsOf(call, inputs);
  if (levels.length === 0) return undefined;
  const { slots, add, release } = createPoolSlots(slotPools);
  async function reserve(): Promise<ReservationResult> {
    // One after the other: two calls that took one level each would refuse each other, and neither would run.
    for (const { pools, error } of levels) {
      if (!(await takeOne(pools))) return { ...refused('capacity', error()), release };
    }
    return { release, holdings: { slots } };
  }
  async function takeOne(pools: readonly SlotPool[]): Promise<boolean> {
    for (const pool of pools) if (add(await slotPools.take(pool, holder))) return true;
    return false;
  }
  return { rank: 'capacity', reserve, releaseUncertain: release };
}

interface Level {
  /** The call takes a slot of one of these pools. */
  readonly pools: readonly SlotPool[];
  /** Where they have no slot left. */
  readonly error: () => GatewayError;
}

function levelsOf(call: IdentifiedCall, { limits, isCreditSharded }: Omit<RoundInputs, 'holder'>): readonly Level[] {
  const { asksFunction, workspace, catalogue } = call;
  const whose = `The workspace ${workspace.id}`;
  const functionLevel = (owner: SlotOwner, key: string, slots: number | null): Level[] =>
    slots === null || !asksFunction ? [] : [{ pools: [{ key, slots }], error: () => functionsError(owner, slots) }];
  const ofWorkspace = isCreditSharded ? limits.workspace : null;
  const { function_concurrency: ofFunctions } = catalogue.service;
  return [
    ...functionLevel({ whose }, `SLOTS#${workspace.id}`, workspace.function_concurrency),
    ...(ofWorkspace === null
      ? []
      : [
          {
            pools: [{ key: `CALLS#${workspace.id}`, slots: ofWorkspace }],
            error: () => concurrencyError(whose, ofWorkspace, { asksFunction }),
          },
        ]),
    ...functionLevel({ whose: 'The gateway', exhausted: 'service_function_concurrency' }, 'SLOTS', ofFunctions),
    ...(limits.servicePools.length === 0
      ? []
      : [{ pools: limits.servicePools, error: () => serviceError(limits, call) }]),
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

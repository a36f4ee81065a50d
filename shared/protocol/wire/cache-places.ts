// Finds the messages of a conversation that are marked for the provider's cache if its client marks nothing. With
// tools, and instructions together with the messages in place of the first, there are four marks, because providers
// refuse more.

const instructionRoles: ReadonlySet<string> = new Set(['system', 'developer']);
const clientRoles: ReadonlySet<string> = new Set(['user', 'tool']);

interface CachePlaces {
  /** Index of the last leading instruction; -1 without leading instructions, as in each field. */
  readonly instructions: number;
  /**
   * Both ends of the client's last turn. The start is where the previous call had its last mark, because between two
   * marks providers look back over only a few blocks.
   */
  readonly turn: readonly [start: number, end: number];
}

export function cachePlaces(roles: readonly string[]): CachePlaces {
  const lastBefore = (place: number, isWanted: (role: string) => boolean) =>
    roles.slice(0, Math.max(place, 0)).findLastIndex(isWanted);
  const isClientRole = (role: string) => clientRoles.has(role);
  const end = lastBefore(roles.length, isClientRole);
  const answer = lastBefore(end, (role) => role === 'assistant');
  const other = roles.findIndex((role) => !instructionRoles.has(role));
  return {
    instructions: (other < 0 ? roles.length : other) - 1,
    turn: [lastBefore(answer, isClientRole), end],
  };
}

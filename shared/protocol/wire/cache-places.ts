// Which messages of a conversation are marked for the cache of a provider where its client marks nothing. With tools, and
// instructions beside the messages in place of the first, they are four: more of them providers refuse.

const instructionRoles: ReadonlySet<string> = new Set(['system', 'developer']);
const clientRoles: ReadonlySet<string> = new Set(['user', 'tool']);

interface CachePlaces {
  /** Index of the last leading instruction; -1 where there is none, as in each field. */
  readonly instructions: number;
  /**
   * Both ends of the last turn of the client. The first is where the call before had its last mark: between two marks providers look
   * back over few blocks only.
   */
  readonly turn: readonly [start: number, end: number];
}

export function cachePlaces(roles: readonly string[]): CachePlaces {
  const lastBefore = (place: number, isWanted: (role: string) => boolean) =>
    roles.slice(0, Math.max(place, 0)).findLastIndex(isWanted);
  const isOfClient = (role: string) => clientRoles.has(role);
  const end = lastBefore(roles.length, isOfClient);
  const answer = lastBefore(end, (role) => role === 'assistant');
  const other = roles.findIndex((role) => !instructionRoles.has(role));
  return {
    instructions: (other < 0 ? roles.length : other) - 1,
    turn: [lastBefore(answer, isOfClient), end],
  };
}

// How much of everything one run does. The whole run stays within about three minutes, the quick one within half of one.

export interface BenchPlan {
  /** Of each target, in turns: so that what disturbs the machine disturbs all of them. */
  readonly turns: number;
  readonly jsonPerTurn: Readonly<Record<Connections, number>>;
  readonly streamsPerTurn: Readonly<Record<Connections, number>>;
  /** Before each call of a connection: at 1, what a call leaves to do after its answer is done by then. */
  readonly pauseMs: Readonly<Record<Connections, number>>;
  /** Of each kind of request, with a delay in every store call. */
  readonly roundCalls: number;
  readonly firstChunkCalls: number;
  readonly cpuTurns: number;
  readonly cpuJsonPerTurn: number;
  readonly cpuStreamsPerTurn: number;
  readonly memoryRequests: number;
  /** Processes of each kind that are started and timed. */
  readonly starts: number;
}

export type Connections = 1 | 32;

export const fullPlan: BenchPlan = {
  turns: 8,
  jsonPerTurn: { 1: 50, 32: 256 },
  streamsPerTurn: { 1: 20, 32: 48 },
  pauseMs: { 1: 20, 32: 0 },
  roundCalls: 20,
  firstChunkCalls: 200,
  cpuTurns: 6,
  cpuJsonPerTurn: 250,
  cpuStreamsPerTurn: 40,
  memoryRequests: 20_000,
  starts: 17,
};

export const quickPlan: BenchPlan = {
  turns: 3,
  jsonPerTurn: { 1: 40, 32: 128 },
  streamsPerTurn: { 1: 10, 32: 32 },
  pauseMs: { 1: 20, 32: 0 },
  roundCalls: 5,
  firstChunkCalls: 50,
  cpuTurns: 3,
  cpuJsonPerTurn: 150,
  cpuStreamsPerTurn: 20,
  memoryRequests: 2_000,
  starts: 7,
};

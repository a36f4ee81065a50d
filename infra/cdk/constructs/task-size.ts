// Lists the sizes of a task under `compute: 'container'`, and computes the values that follow from its size.

/** Default of the setting. */
export const tasksDefault = { min: 2, max: 10, cpu: 1_024, memoryMiB: 2_048 } as const;

interface TaskSettings {
  readonly min: number;
  readonly max: number;
  /** CPU units; 1,024 are one processor. */
  readonly cpu: number;
  readonly memoryMiB: number;
}

const gib = 1_024;

/** Fargate's combinations: CPU units → minimum and maximum memory, and the steps between them, in MiB. */
const memoryOfCpu: Readonly<Record<number, readonly [fromMiB: number, toMiB: number, stepMiB: number]>> = {
  512: [gib, 4 * gib, gib],
  1024: [2 * gib, 8 * gib, gib],
  2048: [4 * gib, 16 * gib, gib],
  4096: [8 * gib, 30 * gib, gib],
};

export const isTaskSize = ({ cpu, memoryMiB }: TaskSettings): boolean => {
  const [from, to, step] = memoryOfCpu[cpu] ?? [Number.POSITIVE_INFINITY, 0, 1];
  return memoryMiB >= from && memoryMiB <= to && memoryMiB % step === 0;
};

/** Share of the JavaScript heap. The rest is for buffers, sockets and threads. */
const heapShare = 0.6;
/**
 * Size of each half of the young heap, which a process in use reaches. By default the halves may double while many
 * answers are unread or many heads do not end, and they stay so.
 */
const youngHalfMiB = 32;

/** Returns options of Node. */
export const heapOptions = ({ memoryMiB }: TaskSettings): readonly string[] => [
  `--max-old-space-size=${Math.floor(memoryMiB * heapShare)}`,
  `--max-semi-space-size=${youngHalfMiB}`,
];

/**
 * Concurrent calls of a task with one processor. In one measurement this many calls that waited ten seconds used half
 * to two thirds of the processor and 430 MiB, and no call failed. More tasks start earlier, at half of the processor. A
 * process uses one processor, so that more processors do not help.
 */
const callsOfProcessor = 1_000;
export const callsPerTask = ({ cpu }: TaskSettings): number => Math.floor(callsOfProcessor * Math.min(1, cpu / 1_024));

/** Another task is started at this share of the calls, because it takes a minute or two until it serves. */
export const scaledAtShare = 0.5;

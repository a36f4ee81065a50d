// What a task of `compute: 'container'` may be, and what follows from its size.

/** Left out of the settings: this. */
export const tasksDefault = { min: 2, max: 10, cpu: 1_024, memoryMiB: 2_048 } as const;

export interface TaskSettings {
  readonly min: number;
  readonly max: number;
  /** Of 1,024 a processor. */
  readonly cpu: number;
  readonly memoryMiB: number;
}

const gib = 1_024;

/** What Fargate takes: CPU units → from, to, and in steps of how many MiB. */
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

/** Of the heap of JavaScript; the rest is for buffers, sockets and threads. */
const heapShare = 0.6;
/** Of Node, whose young heap stays as it is: a larger one alone can grow by the 96 MB that whatever clients send may take. */
export const heapOptions = ({ memoryMiB }: TaskSettings): readonly string[] => [
  `--max-old-space-size=${Math.floor(memoryMiB * heapShare)}`,
];

/**
 * Calls at once that a task of one processor serves: as measured once so many that wait ten seconds take half
 * to two thirds of it and 430 MiB, and none fails. More tasks are started at half of the processor, so before that. One process uses one processor, so
 * more of them carry no more.
 */
const callsOfProcessor = 1_000;
export const callsPerTask = ({ cpu }: TaskSettings): number => Math.floor(callsOfProcessor * Math.min(1, cpu / 1_024));

/** At this share of them another task is started: it takes a minute or two to serve. */
export const scaledAtShare = 0.5;

// Everything one run measured: what is printed, what is written as JSON, what the targets look at.
import type { CpuRow } from './sections/measure-cpu.ts';
import type { FirstChunkParts } from './sections/measure-first-chunk.ts';
import type { ItemSizes } from './sections/measure-items.ts';
import type { AddedRow, LatencyRow } from './sections/measure-latency.ts';
import type { MemorySample } from './sections/measure-memory.ts';
import type { RoundsRow } from './sections/measure-rounds.ts';
import type { StartRow } from './sections/measure-start.ts';

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly platform: string;
  readonly node: string;
  /** Of the last minute, before the run: above 0 others were at work too. */
  readonly loadAtStart: number;
}

/** A section that was not run is absent. */
export interface BenchResults {
  readonly machine: Machine;
  readonly startedAt: string;
  readonly isQuick: boolean;
  readonly rounds?: readonly RoundsRow[];
  readonly itemBytes?: ItemSizes;
  readonly firstChunk?: FirstChunkParts;
  readonly cpu?: readonly CpuRow[];
  readonly start?: readonly StartRow[];
  readonly latency?: { readonly calls: readonly LatencyRow[]; readonly added: readonly AddedRow[] };
  readonly memory?: readonly MemorySample[];
  /** Why there are no figures of @portkey-ai/gateway, where they were asked for. */
  readonly portkeySkipped?: string;
}

export const gatewayName = 'gw';
export const providerName = 'provider itself';

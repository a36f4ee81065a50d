// Everything that a rate of calls can run into, at how many calls a second it does, and the setting that lifts it.
import { amountOf } from './counted.ts';
import { callsPerSecondMax, type HotItem, largestFitting } from './item-load.ts';
import { environmentsOf, type Setup } from './setup.ts';
import { tableUnits } from './table-units.ts';

export interface Lift {
  /** What the operator writes, and where. */
  readonly setting: string;
  readonly setup: Setup;
}

export interface Limit {
  readonly name: string;
  readonly callsPerSecondMax: (setup: Setup) => number;
  /** What clients see beyond it. */
  readonly beyond: string;
  /** Undefined: nothing to do, or nothing can be done by a setting. */
  readonly lift: (setup: Setup, perSecond: number) => Lift | undefined;
}

export const keyItem = (setup: Setup): HotItem => ({
  writesPerCall: setup.keySpendLimit ? amountOf('keyWritesElsewhere') : amountOf('keyWritesElsewhere') - 1,
  baseBytes: amountOf('keyItemBytes'),
  secondsHeld: setup.keySpendLimit ? setup.secondsPerCall : 0,
});

export const creditItem = ({ secondsPerCall }: Setup): HotItem => ({
  writesPerCall: amountOf('creditWrites'),
  baseBytes: amountOf('creditItemBytes'),
  secondsHeld: secondsPerCall,
});

const writesPerKey = ({ keySpendLimit, keyRequestsPerMinute }: Setup) => keySpendLimit || keyRequestsPerMinute;
const timesOf = (need: number, have: number): number => Math.ceil(need / Math.max(have, 1));
const partitionUnits = (bytes: number): number => amountOf('partitionWritesPerSecond') / Math.ceil(bytes / 1_024);

const key: Limit = {
  name: 'the item of the busiest key',
  callsPerSecondMax: (setup) =>
    setup.keys * (writesPerKey(setup) ? callsPerSecondMax(keyItem(setup)) : amountOf('partitionReadsPerSecond')),
  beyond: '503 RATE_LIMITER_UNAVAILABLE for calls of that key',
  lift(setup, perSecond) {
    if (setup.keySpendLimit) {
      return {
        setting: 'workspaces[].keys[].spend_limit_usd: null for that key (the workspace still has its own)',
        setup: { ...setup, keySpendLimit: false },
      };
    }
    if (setup.keyRequestsPerMinute) {
      return {
        setting: 'workspaces[].keys[].rpm: null for that key, which then is only read',
        setup: { ...setup, keyRequestsPerMinute: false },
      };
    }
    const keys = timesOf(perSecond, amountOf('partitionReadsPerSecond'));
    return { setting: `workspaces[].keys: ${keys} keys for that client`, setup: { ...setup, keys } };
  },
};

const credit: Limit = {
  name: 'the credit of the busiest workspace',
  callsPerSecondMax: (setup) => setup.workspaces * setup.creditShards * callsPerSecondMax(creditItem(setup)),
  beyond: '503 RATE_LIMITER_UNAVAILABLE for calls of that workspace',
  lift(setup, perSecond) {
    const perShard = callsPerSecondMax(creditItem(setup));
    const needed = timesOf(perSecond, perShard * setup.workspaces);
    if (needed <= amountOf('creditShardsMax')) {
      // Twice what is needed: in smaller items every write is cheaper.
      const shards = Math.min(2 * needed, amountOf('creditShardsMax'));
      return { setting: `workspaces[].credit_shards: ${shards}`, setup: { ...setup, creditShards: shards } };
    }
    const creditShards = amountOf('creditShardsMax');
    const workspaces = 2 * timesOf(perSecond, perShard * creditShards);
    return {
      setting: `workspaces: the client's traffic over ${workspaces} workspaces, credit_shards: ${creditShards} each`,
      setup: { ...setup, creditShards, workspaces, keys: Math.max(setup.keys, workspaces) },
    };
  },
};

const concurrency: Limit = {
  name: 'concurrent executions of the account',
  callsPerSecondMax: ({ accountConcurrency, secondsPerCall, compute }) =>
    compute === 'web' ? Number.POSITIVE_INFINITY : accountConcurrency / secondsPerCall,
  beyond: '429 of the platform, in its own words',
  lift(setup, perSecond) {
    const needed = environmentsOf(setup, perSecond, amountOf('callsPerWebEnvironment'));
    return {
      setting: `AWS Service Quotas: "Concurrent executions" ${needed} (and no lower chatReservedConcurrency)`,
      setup: { ...setup, accountConcurrency: needed },
    };
  },
};

const records: Limit = {
  name: 'the call records of the busiest workspace',
  callsPerSecondMax: ({ workspaces }) =>
    workspaces * amountOf('recordShards') * partitionUnits(amountOf('recordItemBytes')),
  beyond: 'records are lost; calls go on',
  lift: (setup, perSecond) => {
    const workspaces = timesOf(perSecond, amountOf('recordShards') * partitionUnits(amountOf('recordItemBytes')));
    return { setting: `workspaces: ${workspaces} of them`, setup: { ...setup, workspaces } };
  },
};

const statistics: Limit = {
  name: 'the counters of the busiest model',
  callsPerSecondMax: ({ models }) =>
    models * amountOf('statisticsShards') * partitionUnits(amountOf('statisticsItemBytes')),
  beyond: 'counts are lost at random: medians stay true, throughput reads too low',
  lift: () => undefined,
};

const configuration: Limit = {
  name: 'reads of the one configuration',
  callsPerSecondMax(setup) {
    const share = Math.min(1, setup.secondsPerCall / amountOf('configFreshSeconds'));
    const shared = setup.compute === 'web' ? amountOf('callsPerWebEnvironment') : 1;
    return (amountOf('partitionReadsPerSecond') * shared) / share;
  },
  beyond: 'old copies serve where they may; 503 where a workspace cannot be read',
  lift: (setup) => ({
    setting: '-c compute=web: environments that serve many calls at once share one copy',
    setup: { ...setup, compute: 'web' },
  }),
};

const tables: Limit = {
  name: 'write units of the busiest table',
  callsPerSecondMax: (setup) =>
    largestFitting((perSecond) => tableUnits(setup, perSecond).busiest <= setup.tableWritesPerSecond),
  beyond: '503 until DynamoDB has split the table, minutes later',
  lift(setup, perSecond) {
    const needed = Math.ceil(tableUnits(setup, perSecond).busiest / 1_000) * 1_000;
    return {
      setting: `warm throughput of ${needed} write units a second for the tables (account quota: 40,000 a table)`,
      setup: { ...setup, tableWritesPerSecond: needed },
    };
  },
};

/** What is lifted before the tables as a whole are looked at: hot items are most of what they write. */
export const limits: readonly Limit[] = [key, credit, concurrency, configuration, statistics, records];
export const tableLimit: Limit = tables;

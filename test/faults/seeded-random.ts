// The seed of the faults: GW_FAULT_SEED=n selects another one than CI uses.
export { type SeededRandom, seededRandom } from '../../infra/bench/hostile/seeded-random.ts';

export const faultSeed = Number(process.env.GW_FAULT_SEED ?? 20_260_601);

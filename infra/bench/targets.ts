// Lists the project's speed targets in comparison with other gateways. A run that misses a target does not fail.

/** Maximum added time to the first chunk of a stream, on one connection. */
export const firstChunkMaxMs = 3;

/** The name of the bare relay, which shows the minimum cost of any gateway. */
export const relayName = 'a bare relay of Node';

/**
 * Maximum ratio of a figure to the same figure of another gateway, or minimum ratio for calls a second, by the name and
 * version of the other gateway.
 */
const timesBeside: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  // This is the last commit whose store was a process of its own.
  fbd7c2b: { 'JSON on 1: CPU of gateway and store': 0.4, 'JSON on 32: CPU of gateway and store': 0.65 },
  '@portkey-ai/gateway': {
    ...{ 'JSON on 1: added latency': 1.5, 'JSON on 32: calls a second': 1 },
    'stream on 32: CPU of gateway and store': 0.9,
  },
  [relayName]: {
    ...{ 'JSON on 32: CPU of gateway and store': 6, 'JSON on DynamoDB on 32: CPU of gateway and store': 11 },
    ...{ 'stream on 32: CPU of gateway and store': 1.4, 'stream on DynamoDB on 32: CPU of gateway and store': 1.8 },
  },
};
/** Maximum ratio of two identical trees, which differ by more only if other processes use the machine. */
const timesMax = 1.05;
const timesMin = 0.95;

/**
 * Returns the target of a figure; `what` names the figure as a line of targets does. Returns undefined if the figure
 * has no target.
 */
export function timesTarget(what: string, other: string): number | undefined {
  const version = other.lastIndexOf('@');
  const target = timesBeside[version > 0 ? other.slice(0, version) : other]?.[what];
  if (target !== undefined || !isCommit(other)) return target;
  return what.endsWith('calls a second') ? timesMin : timesMax;
}

const isCommit = (name: string): boolean => /^[0-9a-f]{7}$/.test(name);

// The project's speed targets, beside others in one run. A run that misses one does not fail.

/** To the first chunk of a stream, on one connection. */
export const firstChunkMaxMs = 3;

/** How many times the other's a figure is at most, or of calls a second at least; by name and version of the other. */
const timesBeside: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  // The last one whose store was a process of its own.
  fbd7c2b: { 'JSON on 1: CPU of gateway and store': 0.4, 'JSON on 32: CPU of gateway and store': 0.65 },
  '@portkey-ai/gateway': { 'JSON on 1: added latency': 1.5, 'JSON on 32: calls a second': 1 },
};
/** Two trees that are the same are further apart only where others use the machine. */
const timesMax = 1.05;
const timesMin = 0.95;

/** `what`: as in a line of targets. Returns undefined when there is none. */
export function timesTarget(what: string, other: string): number | undefined {
  const version = other.lastIndexOf('@');
  const named = timesBeside[version > 0 ? other.slice(0, version) : other]?.[what];
  if (named !== undefined || !isCommit(other)) return named;
  return what.endsWith('calls a second') ? timesMin : timesMax;
}

const isCommit = (name: string): boolean => /^[0-9a-f]{7}$/.test(name);

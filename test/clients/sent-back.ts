// Reasoning that clients send again with the results of the tools that a model called.
import assert from 'node:assert/strict';

/** Matches a request for reasoning in every format. */
const asksToThink = /"reasoning_effort":"high"|"budget_tokens":\d|"includeThoughts":true/;
/** Matches a signature. The words that Gemini's package puts in place of a lost signature do not count. */
const signature = /"signature":"|"thoughtSignature":"(?!skip_)/;

/**
 * Returns whether the second of the two calls at the provider had the reasoning. With a budget, Claude reasons about
 * results only if its reasoning came back.
 */
export function isSentBack(bodies: readonly unknown[]): boolean {
  const [first = '', second = '', ...more] = bodies.map((body) => JSON.stringify(body));
  assert.deepEqual([asksToThink.test(first), more.length], [true, 0], 'the first of two calls asks the model to think');
  const isBack = signature.test(second);
  assert.equal(asksToThink.test(second), isBack || second.includes('includeThoughts'), 'the second call thinks too');
  return isBack;
}

/** Returns the cell's text in the README. */
export function shownAs(ofWhole: boolean, ofStream: boolean): string {
  if (ofWhole === ofStream) return ofWhole ? 'yes' : 'no';
  return ofWhole ? 'yes, not of a stream' : 'of a stream only';
}

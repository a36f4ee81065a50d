// Thinking that clients send again with the results of the tools that a model called.
import assert from 'node:assert/strict';

/** In the words of every format. */
const asksToThink = /"reasoning_effort":"high"|"budget_tokens":\d|"includeThoughts":true/;
/** The words that Gemini's package puts in place of a signature that was lost are none. */
const signature = /"signature":"|"thoughtSignature":"(?!skip_)/;

/** Of the two calls that the provider got. With a budget Claude thinks on results only where its thinking came back. */
export function isSentBack(bodies: readonly unknown[]): boolean {
  const [first = '', second = '', ...more] = bodies.map((body) => JSON.stringify(body));
  assert.deepEqual([asksToThink.test(first), more.length], [true, 0], 'the first of two calls asks the model to think');
  const isBack = signature.test(second);
  assert.equal(asksToThink.test(second), isBack || second.includes('includeThoughts'), 'the second call thinks too');
  return isBack;
}

/** As the README says it. */
export function shownAs(ofWhole: boolean, ofStream: boolean): string {
  if (ofWhole === ofStream) return ofWhole ? 'yes' : 'no';
  return ofWhole ? 'yes, not of a stream' : 'of a stream only';
}

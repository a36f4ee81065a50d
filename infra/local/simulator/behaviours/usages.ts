// Lists behaviours with correct and wrong usage reports.

import { type Choice, type SimulatedCompletion, type TokenCounts, tokenCounts } from '../answer.ts';
import { type Behaviour, type Behaviours, numberParameter, type SimulatorCall } from '../call.ts';
import { complete } from '../completion.ts';
import { respond } from '../frames.ts';
import { promptTokens } from '../tokens.ts';

type Usage = SimulatedCompletion['usage'];

const reporting =
  (usageFor: (call: SimulatorCall, counted: TokenCounts) => Usage, choice: Partial<Choice> = {}): Behaviour =>
  (call) => {
    const completion = complete(call, choice);
    return respond(call, { ...completion, usage: usageFor(call, completion.usage as TokenCounts) });
  };

/** Returns a report whose counts are not numbers. */
const miscounted = (counts: Partial<Record<keyof TokenCounts, unknown>>) =>
  ({ ...tokenCounts(0, 0), ...counts }) as TokenCounts;

const wrong: Readonly<Record<string, Usage>> = {
  negative: tokenCounts(-1000, -500, { cached: -7, reasoning: -3 }),
  strings: miscounted({ input: '12', output: 'many' }),
  cached: tokenCounts(10, 5, { cached: 1_000_000, reasoning: 1_000_000 }),
  fractions: tokenCounts(10.5, 0.25),
  astronomic: tokenCounts(1e300, 1e300),
  nulls: miscounted({ input: null, output: null, cached: null, reasoning: null }),
  text: 'a lot',
};

const thought = 'Let me think about this for a moment.';

/** Reports half of the prompt as cached, or the number of tokens in the parameter. */
const cached = reporting((call, counted) => {
  const cachedTokens = numberParameter(call, 0, Math.floor(counted.input / 2));
  return { ...counted, cached: Math.min(counted.input, cachedTokens) };
});

/**
 * Reports the counts of `usage:PROMPT:COMPLETION:CACHED:REASONING:WRITTEN:WRITTEN_FOR_AN_HOUR`, so that a test can
 * choose the cost of a call.
 */
const exact = reporting((call) =>
  tokenCounts(numberParameter(call, 0, 0), numberParameter(call, 1, 0), {
    cached: numberParameter(call, 2, 0),
    reasoning: numberParameter(call, 3, 0),
    written: numberParameter(call, 4, 0) + numberParameter(call, 5, 0),
    writtenForHour: numberParameter(call, 5, 0),
  }),
);

const additiveReasoning = reporting(
  (call, { reasoning, output }) =>
    tokenCounts(promptTokens(call.request), output - reasoning, { reasoning, isReasoningBeside: true }),
  { reasoning: thought },
);

export const usages: Behaviours = {
  cached,
  usage: exact,
  'usage-on-content': (call) => respond(call, { ...complete(call), isUsageOnContent: true }),
  'no-usage': reporting(() => undefined),
  'zero-usage': reporting(() => tokenCounts(0, 0)),
  'wrong-usage': reporting((call) => wrong[call.parameters[0] ?? 'negative']),
  'additive-reasoning': additiveReasoning,
};

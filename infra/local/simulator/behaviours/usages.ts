// Right and wrong reports of what an answer used.
import { type Behaviour, type Behaviours, type Call, numberParameter } from '../call.ts';
import { type Choice, type Completion, complete, completionJson, usage } from '../completion.ts';
import { type Frame, framesOf, jsonFrame, respond, streamSteps } from '../frames.ts';
import { json } from '../step.ts';
import { countTokens, promptTokens } from '../tokens.ts';

type Usage = Completion['usage'];

const reporting =
  (usageFor: (call: Call, completion: Completion) => Usage, choice: Partial<Choice> = {}): Behaviour =>
  (call) => {
    const completion = complete(call, choice);
    return respond(call, { ...completion, usage: usageFor(call, completion) });
  };

const wrong: Readonly<Record<string, unknown>> = {
  negative: usage(-1000, -500, { cached: -7, reasoning: -3 }),
  strings: { prompt_tokens: '12', completion_tokens: 'many', total_tokens: '12' },
  cached: usage(10, 5, { cached: 1_000_000, reasoning: 1_000_000 }),
  fractions: usage(10.5, 0.25),
  astronomic: usage(1e300, 1e300),
  nulls: { prompt_tokens: null, completion_tokens: null, total_tokens: null, prompt_tokens_details: null },
  text: 'a lot',
};

const thought = 'Let me think about this for a moment.';

/** `cached` reports half of the prompt, or the parameter. */
const cached = reporting((call, { usage: counted }) => {
  const prompt = promptTokens(call.request);
  const hit = Math.min(prompt, numberParameter(call, 0, Math.floor(prompt / 2)));
  return { ...counted, prompt_tokens_details: { cached_tokens: hit, audio_tokens: 0 } };
});

/** `usage:PROMPT:COMPLETION:CACHED:REASONING:WRITTEN` (into a cache), so that a test can choose what a call costs. */
const exact = reporting((call) =>
  usage(numberParameter(call, 0, 0), numberParameter(call, 1, 0), {
    cached: numberParameter(call, 2, 0),
    reasoning: numberParameter(call, 3, 0),
    written: numberParameter(call, 4, 0),
  }),
);

const additiveReasoning = reporting(
  (call, { choices }) => {
    const spoken = choices.reduce((tokens, choice) => tokens + countTokens(choice.content ?? ''), 0);
    const reasoning = choices.length * countTokens(thought);
    const counted = usage(promptTokens(call.request), spoken, { reasoning });
    return { ...counted, total_tokens: counted.total_tokens + reasoning };
  },
  { reasoning: thought },
);

/** Like Gemini: one last chunk with content, finish reason and usage, whether asked for or not. */
const usageOnContent: Behaviour = (call) => {
  const completion = complete(call);
  if (call.request.stream !== true) return json(200, completionJson(completion));
  const frames = framesOf(call, { ...completion, usage: undefined }).filter((frame) => frame.carries !== 'finish');
  const last = frames.findLastIndex((frame) => frame.carries === 'output');
  return streamSteps(
    call,
    frames.map((frame, index) => (index === last ? finishing(frame, completion) : frame)),
  );
};

function finishing(frame: Frame, completion: Completion): Frame {
  const chunk = JSON.parse(frame.text);
  const finished = { ...chunk.choices[0], finish_reason: completion.choices[0]?.finishReason };
  return jsonFrame('output', { ...chunk, choices: [finished], usage: completion.usage });
}

export const usages: Behaviours = {
  cached,
  usage: exact,
  'usage-on-content': usageOnContent,
  'no-usage': reporting(() => undefined),
  'zero-usage': reporting(() => usage(0, 0)),
  'wrong-usage': reporting((call) => wrong[call.parameters[0] ?? 'negative'] as Usage),
  'additive-reasoning': additiveReasoning,
};

// Lists behaviours with correct answers of every kind, and with answers to requests for JSON that are slightly wrong.

import type { Choice } from '../answer.ts';
import { answerText } from '../answer-text.ts';
import type { Behaviour, Behaviours, SimulatorCall } from '../call.ts';
import { complete, thought } from '../completion.ts';
import { refuse, respond } from '../frames.ts';

/** The behaviour of every unknown name. */
export const echo: Behaviour = (call) => respond(call, complete(call));

const saying =
  (choice: Partial<Choice> | ((call: SimulatorCall) => Partial<Choice>)): Behaviour =>
  (call) =>
    respond(call, complete(call, typeof choice === 'function' ? choice(call) : choice));

/** Returns no choice at all if the format has an answer without a choice. */
const blockedPrompt: Behaviour = (call) =>
  call.format.answersBlockedPrompts
    ? respond(call, complete(call, {}, 0))
    : refuse(call, 400, { code: 'content_policy_violation' });

export const answers: Behaviours = {
  echo,
  tools: echo,
  reasoning: saying({ reasoning: thought }),
  'redacted-reasoning': saying({ reasoning: thought, hasRedactedReasoning: true }),
  refusal: saying({ content: null, refusal: 'I am sorry, but I cannot help with that.' }),
  'content-filter': saying({ content: 'I was about to', finishReason: 'content_filter' }),
  'blocked-prompt': blockedPrompt,
  'two-choices': (call) => respond(call, complete(call, {}, 2)),
  // The text includes the body as it was received, because parsing it would hide a client's change of its numbers.
  'echo-request': saying((call) => ({
    content: `{"headers":${JSON.stringify(call.headers)},"body":${call.bodyText}}`,
  })),
};

const prose = 'Of course! Here is the answer in plain words, because I forgot what you asked for.';

/** Returns JSON that does not satisfy the schema of the request. */
function mismatch({ request: { output } }: SimulatorCall): string {
  const schema = typeof output === 'object' ? (output.schema as { type?: unknown } | undefined) : undefined;
  return schema?.type === 'array' ? '{"not":"an array"}' : '[["not what was asked for"]]';
}

/** Answers with prose, or with the parameter `mismatch` with JSON that does not satisfy the schema. */
const invalidJson: Behaviour = (call) =>
  respond(call, complete(call, { content: call.parameters[0] === 'mismatch' ? mismatch(call) : prose }));

const truncatedJson: Behaviour = (call) => {
  const text = answerText(call);
  return respond(call, complete(call, { content: text.slice(0, text.length / 2), finishReason: 'length' }));
};

export const jsonContents: Behaviours = {
  'invalid-json': invalidJson,
  'invalid-json-once': (call) => (call.earlierCalls === 0 ? invalidJson(call) : echo(call)),
  'fenced-json': (call) => respond(call, complete(call, { content: `\`\`\`json\n${answerText(call)}\n\`\`\`` })),
  'truncated-json': truncatedJson,
};

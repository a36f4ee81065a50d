// Good answers of every kind.
import type { Behaviour, Behaviours, Call } from '../call.ts';
import { type Choice, complete } from '../completion.ts';
import { respond } from '../respond.ts';

/** What any unknown name does. */
export const echo: Behaviour = (call) => respond(call, complete(call));

const saying =
  (choice: Partial<Choice> | ((call: Call) => Partial<Choice>)): Behaviour =>
  (call) =>
    respond(call, complete(call, typeof choice === 'function' ? choice(call) : choice));

export const answers: Behaviours = {
  echo,
  tools: echo,
  reasoning: saying({ reasoning: 'The user wants an answer. I should give a short one.' }),
  refusal: saying({ content: null, refusal: 'I am sorry, but I cannot help with that.' }),
  'content-filter': saying({ content: 'I was about to', finishReason: 'content_filter' }),
  'two-choices': (call) => respond(call, complete(call, {}, 2)),
  // The body goes in as it was received: parsing it here would hide what a client did to its numbers.
  'echo-request': saying((call) => ({
    content: `{"headers":${JSON.stringify(call.headers)},"body":${call.bodyText}}`,
  })),
};

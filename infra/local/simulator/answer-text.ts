// Writes the text of the simulator's answers from the last message of the request, readable for a person who tries the
// demo.
import type { SimulatorCall } from './call.ts';
import type { ModelRequest } from './model-request.ts';
import { schemaInstance } from './schema-instance.ts';
import { imagesIn, tokensOf } from './tokens.ts';

/** Maximum number of quoted tokens, because more of the question would hide the answer. */
const quotedTokens = 40;

export function answerText(call: SimulatorCall): string {
  const { output, model } = call.request;
  if (output === 'text') return friendlyText(call);
  if (output === 'object') return JSON.stringify({ answer: friendlyText(call), model });
  return JSON.stringify(schemaInstance(output.schema));
}

function friendlyText(call: SimulatorCall): string {
  const { request } = call;
  const results = toolResults(request);
  if (results.length > 0) return `The tools answered ${results.map(quote).join(' and ')}. That is all I needed.`;
  const images = imagesIn(request);
  const seen = images === 0 ? '' : `I see ${images} ${images === 1 ? 'image' : 'images'}. `;
  const question = lastUserText(request);
  return (
    `${seen}Hello! ${question === '' ? 'You wrote nothing' : `You wrote ${quote(question)}`}. I am the model ${request.model}, simulated by the ` +
    `provider ${call.provider}. I only play a model, but the way of your request was real: it was checked, routed, ` +
    'priced and sent to me, and my words come back to you one by one.'
  );
}

/** Returns the text of the last user message, trimmed. */
export const lastUserText = ({ turns }: ModelRequest): string =>
  (turns.findLast(({ role }) => role === 'user')?.text ?? '').trim();

/** Returns the results of the tools, if they are the last turns. */
function toolResults({ turns }: ModelRequest): readonly string[] {
  const before = turns.findLastIndex(({ role }) => role !== 'tool');
  return turns.slice(before + 1).map(({ text }) => text);
}

function quote(text: string): string {
  const tokens = tokensOf(text.trim());
  return `“${tokens.slice(0, quotedTokens).join('')}${tokens.length > quotedTokens ? ' …' : ''}”`;
}

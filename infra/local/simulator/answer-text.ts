// What the simulator says: something a person who tries the demo can read, built from the last message of the request.
import type { Call, ChatRequest } from './call.ts';
import { schemaInstance } from './schema-instance.ts';
import { imagesIn, textOf, tokensOf } from './tokens.ts';

/** More of the question would bury the answer. */
const quotedTokens = 40;

export function answerText(call: Call): string {
  const { request } = call;
  const format = request.response_format?.type;
  if (format === 'json_schema') return JSON.stringify(schemaInstance(request.response_format?.json_schema?.schema));
  if (format === 'json_object') return JSON.stringify({ answer: friendlyText(call), model: request.model });
  return friendlyText(call);
}

function friendlyText(call: Call): string {
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

/** The text of the last user message, trimmed. */
export const lastUserText = (request: ChatRequest): string => {
  const last = request.messages.findLast((message) => message.role === 'user');
  return last === undefined ? '' : textOf(last).trim();
};

/** The results of the tools, where they are the last that was said. */
function toolResults(request: ChatRequest): readonly string[] {
  const before = request.messages.findLastIndex((message) => message.role !== 'tool');
  return request.messages.slice(before + 1).map(textOf);
}

function quote(text: string): string {
  const tokens = tokensOf(text.trim());
  return `“${tokens.slice(0, quotedTokens).join('')}${tokens.length > quotedTokens ? ' …' : ''}”`;
}

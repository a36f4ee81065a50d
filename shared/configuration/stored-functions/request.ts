// Converts a revision and its input to request bodies of chat completions, which are read and checked like the body of
// any client.

import type { MessageTemplate, ModelCall, PromptContent } from './function-document.ts';
import type { MatchedInput } from './match-input.ts';
import type { FunctionInput } from './read-input.ts';
import { noSteps, renderMessages } from './render.ts';
import { messageReferences } from './template.ts';

export interface FunctionRequest {
  /** Body with `model`, `messages`, the fixed options, `response_format`, and the fields that the client may add. */
  readonly body: Record<string, unknown>;
  /** Models that are tried in this order, after `model`, if no provider of `model` has a result. */
  readonly fallbackModels: readonly string[];
}

export const toRequest = (
  { model, fallback_models, options, response_format }: ModelCall,
  messages: readonly MessageTemplate[],
  passed: MatchedInput['passed'],
): FunctionRequest => ({
  body: { model, messages, ...passed, ...options, ...(response_format === undefined ? {} : { response_format }) },
  fallbackModels: fallback_models,
});

/**
 * Returns the one provider call of a prompt. Throws invalid_function_request if the input does not fill its
 * templates.
 */
export const promptRequest = (content: PromptContent, { input, passed }: MatchedInput): FunctionRequest =>
  toRequest(content, renderPrompt(content, input), passed);

/**
 * Renders a prompt. Messages without a reference precede the input, as a client may write them. The input then comes
 * last.
 */
function renderPrompt({ messages }: PromptContent, input: FunctionInput): MessageTemplate[] {
  const templates = messageReferences(messages).length > 0 ? messages : [...messages, inputMessage];
  return renderMessages(templates, { input, steps: noSteps });
}

const inputMessage: MessageTemplate = { role: 'user', content: '{{input}}' };

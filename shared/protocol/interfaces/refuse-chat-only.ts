import { fail } from '../../errors/index.ts';
import type { JsonText } from '../wire/index.ts';
import { namesFunction } from './asked-model.ts';

/** What only chat completions have: throws for the alias of a stored function, and for `preset`. */
export function refuseChatOnly(json: JsonText, { preset }: Readonly<Record<string, unknown>>): void {
  if (namesFunction(json)) {
    const message = 'A stored function is called as a chat completion: POST /v1/chat/completions.';
    throw fail('invalid_function_request', { message, param: 'model' });
  }
  if ((preset ?? null) !== null) {
    throw fail('invalid_request', { message: 'preset: is read on chat completions only', param: 'preset' });
  }
}

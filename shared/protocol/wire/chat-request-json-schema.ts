// The request body as JSON Schema, for the description of the API. In a file of its own, so that no bundle carries it.
import * as z from 'zod/mini';
import { chatRequestSchema } from './chat-request.ts';

/**
 * Draft 2020-12, of what `readChatRequest` checks by schema. What it checks in code is not in it: `provider.sort`, the
 * form of price strings, `reasoning.effort` beside `reasoning.max_tokens`, and the schema of a json_schema format.
 */
export const chatRequestJsonSchema = (): Record<string, unknown> =>
  z.toJSONSchema(chatRequestSchema, { target: 'draft-2020-12', io: 'input' });

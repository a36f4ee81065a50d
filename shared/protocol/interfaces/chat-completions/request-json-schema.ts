// Writes the request body as JSON Schema, for the description of the API. The module is a file of its own, so that no
// bundle contains it.
import * as z from 'zod/mini';
import { itemSchemas, sortOrders, sortSchema } from '../../wire/index.ts';
import { chatRequestSchema, schemaCarrier } from './chat-request.ts';

const toJsonSchema = (schema: z.core.$ZodType): Record<string, unknown> =>
  z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    override({ zodSchema, jsonSchema }) {
      if (zodSchema === sortSchema) jsonSchema.enum = [...sortOrders, null];
      const item = itemSchemas.get(zodSchema);
      if (item === undefined) return;
      const { $schema: _dialect, ...items } = toJsonSchema(item);
      jsonSchema.items = items;
    },
  });

/**
 * Returns a schema of draft 2020-12 for the part that `readChatRequest` checks by schema. The schema does not cover
 * checks in code: names that differ only in case, `reasoning.effort` together with `reasoning.max_tokens`, `model`
 * together with `models`, and that a json_schema format has its schema.
 */
export const chatRequestJsonSchema = (): Record<string, unknown> => toJsonSchema(chatRequestSchema);

/** Returns the schema of `response_format.json_schema`. */
export const schemaCarrierJsonSchema = (): Record<string, unknown> => toJsonSchema(schemaCarrier);

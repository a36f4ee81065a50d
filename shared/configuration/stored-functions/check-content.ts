// Schemas that cannot be used, and options that no provider call can have. Checked when a revision is saved, so that no
// call of a client meets them.
import { GatewayError } from '../../errors/index.ts';
import { readChatRequest } from '../../protocol/interfaces/chat-completions/index.ts';
import { checkResponseSchema } from '../../protocol/json-schema/index.ts';
import type { ModelCall, RevisionContent } from './function-document.ts';
import { toRequest } from './request.ts';

/** Throws an Error that names the place. */
export async function checkContent(content: RevisionContent): Promise<void> {
  if (content.input.type === 'object') await checkSchema('input.schema', content.input.schema);
  if (content.kind === 'prompt') await checkCall('', content);
  else for (const [index, step] of content.steps.entries()) await checkCall(`steps[${index}].`, step);
  for (const [index, { expect }] of content.cases.entries()) {
    if (expect.schema !== undefined) await checkSchema(`cases[${index}].expect.schema`, expect.schema);
  }
}

async function checkCall(place: string, call: ModelCall): Promise<void> {
  const read = readChatRequest(toRequest(call, call.messages, {}).body);
  if (read instanceof GatewayError) throw new Error(`${place}options: ${read.message}`);
  if (read.responseSchema !== undefined) await checkSchema(`${place}response_format`, read.responseSchema);
}

async function checkSchema(place: string, schema: unknown): Promise<void> {
  const fault = await checkResponseSchema(schema);
  if (fault !== undefined) throw new Error(`${place}: ${fault.message}`);
}

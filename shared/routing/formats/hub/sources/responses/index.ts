// OpenAI's Responses as a source: a client of this interface on a model of any format.

import { once } from '../../../../../foundation/cache/index.ts';
import { responseSettings } from '../../../../../protocol/interfaces/responses/index.ts';
import type { HubSource } from '../../middle/index.ts';
import { createClientTools } from './client-tools.ts';
import { toHubCall } from './response-call.ts';
import { openResponseWriter } from './write-response-events.ts';
import { writeResponse } from './write-whole-response.ts';

export const responsesSource: HubSource = async (body, nextStep, { open }) => {
  const tools = createClientTools();
  const call = await toHubCall(body, { clientTools: tools, nextStep, open });
  // Written three times in a stream, and tools are long.
  const settings = once(() => responseSettings(body));
  return {
    call,
    writeAnswer: (result, head) => writeResponse(result, { head, tools, settings }, nextStep),
    writesOneCallAtATime: true,
    openWriter: (head) => openResponseWriter({ head, tools, settings }),
  };
};

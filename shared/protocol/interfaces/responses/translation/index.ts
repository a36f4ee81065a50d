// Translates OpenAI's Responses, so that a client of this interface can use a model of any format.

import { once } from '../../../../foundation/cache/index.ts';
import { eventsByPart, type HubSource, type SourceCall } from '../../../hub/index.ts';
import type { AnswerEvent, JsonObject } from '../../../wire/index.ts';
import { responseSettings } from '../response-settings.ts';
import { type ClientTools, createClientTools } from './client-tools.ts';
import { foldResponse } from './fold-response.ts';
import { openHubCall } from './response-call.ts';
import { streamResponse } from './stream-response.ts';
import { openResponseEvents } from './write-response-events.ts';

export const responsesSource: HubSource = (body, { open }) => {
  const tools = createClientTools();
  const { read, end } = openHubCall(body, { clientTools: tools, open });
  return { conversation: body.input, read, end: () => ({ call: end(), ...writersWith(body, tools) }) };
};

function writersWith(body: JsonObject, tools: ClientTools): Omit<SourceCall, 'call'> {
  // The text is written three times in a stream, and tools are long.
  const settings = once(() => responseSettings(body));
  return {
    writesOneCallAtATime: true,
    openWriter(head) {
      const writing = { head, tools, settings };
      return eventsByPart<AnswerEvent>((add) => openResponseEvents(writing, streamResponse(writing, add)));
    },
    openFold(head) {
      const writing = { head, tools, settings };
      const { sinkTo, answer } = foldResponse(writing);
      const write = eventsByPart<object>((give) => openResponseEvents(writing, sinkTo(give)));
      return { write, answer };
    },
  };
}

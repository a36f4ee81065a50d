// Requests with the input of a response that ask for no response: a count of its tokens, and a shorter form of it.
import { GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import { type JsonText, rewriteMembers } from '../../wire/index.ts';
import {
  type ClientRequest,
  claudeToolTokens,
  estimateCount,
  type RequestReading,
  sizeOfCount,
  sumOfMedia,
  withoutGatewayMembers,
} from '../index.ts';
import { withoutOwnItems } from './own-items.ts';
import { asksForJson, mediaIn, toolsOf } from './response-size.ts';
import type { ResponsesBody } from './responses-body.ts';
import { readResponsesRequest } from './responses-request.ts';

/** Never a stream, and nothing that later calls may name. */
function readInput(json: JsonText, reading: RequestReading): ClientRequest | GatewayError {
  const request = readResponsesRequest(json, reading);
  if (request instanceof GatewayError) return request;
  return {
    ...request,
    stream: false,
    answerIs: 'unnamed',
    outputBoundMember: undefined,
    // Providers refuse fields that only a response has, so none is added.
    upstreamBody({ model }) {
      const rewrite = withoutOwnItems(json);
      const changes = new Map<string, unknown>([...withoutGatewayMembers, ['model', model], ...rewrite.changes]);
      return { text: rewriteMembers(json, changes, 0, rewrite.replaced), leftOut: rewrite.leftOut };
    },
    refusedStream: undefined,
  };
}

export function readInputTokensRequest(json: JsonText, reading: RequestReading): ClientRequest | GatewayError {
  const request = readInput(json, reading);
  if (request instanceof GatewayError) return request;
  const body = request.raw as ResponsesBody;
  // Measured with the size: the media of a long body are let go then.
  const media = once(() => sumOfMedia(mediaIn(body)));
  const toolTokens = () => claudeToolTokens(toolsOf(body), asksForJson(body.text));
  return {
    ...request,
    interfaceId: 'input-tokens',
    isOutputOpen: false,
    needs: once(() => ({ ...request.needs(), storingMember: undefined })),
    size: once(() => {
      media();
      return sizeOfCount(request.size());
    }),
    answerItself: (nextStep) =>
      estimateCount(
        { text: json.text, media: media(), toolTokens: toolTokens() },
        { object: 'response.input_tokens' },
        nextStep,
      ),
    writeAnswer: ({ text }) => ({ body: text, headers: {} }),
  };
}

export function readCompactRequest(json: JsonText, reading: RequestReading): ClientRequest | GatewayError {
  const request = readInput(json, reading);
  if (request instanceof GatewayError) return request;
  return {
    ...request,
    interfaceId: 'compact',
    isOutputOpen: true,
    // There is no field to bound the output.
    size: once(() => ({ ...request.size(), maxOutputTokens: undefined, isOutputOpen: true, namesNoBound: false })),
    hubNeeds: () => [{ kind: 'compaction', member: 'input' }, ...request.hubNeeds()],
  };
}

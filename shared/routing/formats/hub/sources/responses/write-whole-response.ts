// What a model answered, whole, as a response.
import { stringifyInTurns } from '../../../../../protocol/wire/index.ts';
import { contentOf, type HubResult, isSigned, tokensOf, type WrittenAnswer } from '../../middle/index.ts';
import { createOutput } from './build-output.ts';
import { imageOf } from './response-items.ts';
import { responseEnd, responseText, toReport, type Writing } from './response-object.ts';

export async function writeResponse(
  result: HubResult,
  writing: Writing,
  nextStep: () => Promise<void>,
): Promise<WrittenAnswer> {
  const { head } = writing;
  let outputBytes = 0;
  const output = createOutput(writing, (_type, _members, { spoken = '' } = {}) => {
    outputBytes += Buffer.byteLength(spoken);
  });
  for (const [index, part] of contentOf(result).entries()) {
    const key = String(index);
    if (part.type === 'text') {
      const signed = head.readSigned(part.providerMetadata);
      if (isSigned(signed) && part.text !== '') output.addTextSignature(signed);
      output.addText(key, part.text, {});
    }
    if (part.type === 'reasoning') {
      output.addReasoning(key, part.text, head.readSigned(part.providerMetadata));
      output.endReasoning(key);
    }
    if (part.type === 'tool-call') {
      output.beginCall(part.toolCallId, part.toolName, head.readSigned(part.providerMetadata));
      output.endCall(part.toolCallId, part.input);
    }
    const image = part.type === 'file' ? imageOf(part) : undefined;
    if (image !== undefined) output.addImage(image);
  }
  const end = responseEnd(result.finishReason);
  output.finish(end.status === 'incomplete', end.reason && head.refusalOf(result.providerMetadata));
  const items: string[] = [];
  for (const item of output.items) items.push(await stringifyInTurns(item, nextStep));
  const whole = { items, tokens: tokensOf(result.usage), outputBytes };
  return {
    text: responseText(writing, end, whole),
    usage: toReport(head, whole),
    outputBytes,
    finishReasons: [end.status],
  };
}

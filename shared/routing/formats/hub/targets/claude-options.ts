// The options that the packages of Anthropic and of Bedrock are given alike.
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { imagesOfUser, instructionsFirst, type TargetCall, withCacheMarksMax } from '../middle/index.ts';
import { anyJsonSchema, callOptions, isAnyJson, needsJsonInstruction, withJsonInstruction } from './json-format.ts';

/** `more`: further options of Anthropic's package. */
export function claudeOptions(
  target: TargetCall,
  more: Readonly<Record<string, boolean>> = {},
): LanguageModelV4CallOptions {
  const call = withCacheMarksMax(needsJsonInstruction(target) ? withJsonInstruction(target.call) : target.call);
  const { stopSequences: stops, ...options } = callOptions({ ...target, call });
  // Their own JSON mode wants a closed schema, so Claude is made to call a tool.
  const isAny = isAnyJson(call);
  return {
    ...options,
    // Claude refuses a stop that is blank.
    ...(stops === undefined ? {} : { stopSequences: stops.filter((stop) => stop.trim() !== '') }),
    prompt: imagesOfUser(instructionsFirst(call.prompt)),
    ...(isAny ? { responseFormat: anyJsonSchema } : {}),
    providerOptions: {
      anthropic: {
        ...(call.parallelToolCalls === false ? { disableParallelToolUse: true } : {}),
        ...(isAny ? { structuredOutputMode: 'jsonTool' } : {}),
        ...more,
      },
    },
  };
}

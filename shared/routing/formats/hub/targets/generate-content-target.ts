// Gemini's generateContent.
import { createGoogle } from '@ai-sdk/google';
import { upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { isJsonObject, readEvents } from '../../../../protocol/wire/index.ts';
import { type HubTarget, instructionsFirst } from '../middle/index.ts';
import { atMost, readObject } from './body-members.ts';
import { anyJsonSchema, callOptions, isAnyJson } from './call-options.ts';
import { eventBytes } from './event-bytes.ts';
import { nonEmpty } from './package-words.ts';
import { type UsageForm, withReadableUsage } from './readable-usage.ts';

/** The smallest maximum of its models: Gemini refuses a budget beyond that of the model. */
const geminiBudgetMax = 24_576;

export const target: HubTarget = {
  openModel: ({ model, ...settings }) => createGoogle(settings)(pathOf(model)),
  toOptions(target) {
    const { call, thinking } = target;
    return {
      ...callOptions(target),
      prompt: instructionsFirst(call.prompt),
      // It has a JSON mode of its own, but not beside tools.
      ...(isAnyJson(call) && call.tools !== undefined ? { responseFormat: anyJsonSchema } : {}),
      // Without it thoughts are billed, but not shown.
      providerOptions: isJsonObject(thinking) ? { google: { thinkingConfig: { includeThoughts: true } } } : {},
    };
  },
  boundBody(body, { boundTokens, thinking: asked }) {
    const config = readObject(body, 'generationConfig');
    const { thinkingConfig: thinking, maxOutputTokens } = config;
    const budget = typeof asked === 'object' ? asked.budgetTokens : undefined;
    const isBudget = budget !== undefined && isJsonObject(thinking) && typeof thinking.thinkingBudget === 'number';
    return {
      generationConfig: {
        ...config,
        maxOutputTokens: atMost(maxOutputTokens, boundTokens),
        ...(isBudget ? { thinkingConfig: { ...thinking, thinkingBudget: Math.min(budget, geminiBudgetMax) } } : {}),
      },
    };
  },
  says: new Set(),
  streamType: 'text/event-stream',
  async *readStream(bytes) {
    for await (const events of readEvents(bytes, upstreamEventMaxBytes)) {
      yield eventBytes(events.map(({ name, text }) => ({ name, text: withReadableEventUsage(text) })));
    }
  },
  withReadableUsage: (text) => withReadableUsage(text, geminiUsage),
  // In place of an answer.
  isBlockedPrompt(metadata) {
    const feedback = metadata?.google?.promptFeedback;
    return isJsonObject(feedback) && typeof feedback.blockReason === 'string';
  },
  // Its package asks again where an answer reached the limit of one request: the answer ends there.
  endOfAnswer: { candidates: [{ finishReason: 'MAX_TOKENS' }] },
  originOf: () => 'google-gemini-v1',
  readSigned: ({ google = {} } = {}) => nonEmpty('signature', google.thoughtSignature),
  // Each kind of part has its own.
  signedOptions: (_part, { signature }) =>
    signature === undefined ? undefined : { google: { thoughtSignature: signature } },
};

/** The package takes a name with a slash for a path of its own. */
const pathOf = (model: string): string =>
  !model.includes('/') || /^(models|tunedModels)\//.test(model) ? model : `models/${model}`;

const geminiUsage: UsageForm = {
  member: 'usageMetadata',
  required: ['promptTokenCount'],
  counts: ['candidates', 'thoughts', 'cachedContent', 'toolUsePrompt', 'total'].map((name) => `${name}TokenCount`),
  isWanted: false,
};

/** Gemini tells its usage again in each event: only one that could be odd is looked into. */
const oddGeminiUsage = /"usageMetadata"\s*:\s*[^{\s]|"\w+TokenCount"\s*:(?!\s*\d{1,15}\s*[,}])/;

const withReadableEventUsage = (text: string): string =>
  oddGeminiUsage.test(text) ? withReadableUsage(text, geminiUsage) : text;

// The gateway's table of models is compared with those of the installed packages: an update of a package shows what has
// changed.

import * as anthropicPackage from '@ai-sdk/anthropic/internal';
import { createGoogle } from '@ai-sdk/google';
import { openaiModelCatalog } from '@ai-sdk/openai/internal';
import { describe, expect, it } from '#jest';
import {
  isOpenAiReasoningModel,
  type ModelReasoning,
  reasoningOf,
  thinkingOf,
  thinksByDefault,
  thinksWithToolsInResponsesOnly,
  unknownModelReasoning,
} from '../../../shared/configuration/catalogue/index.ts';
import { loadModelList } from '../../../shared/configuration/model-list/index.ts';
import { supportsForcedTool } from '../../../shared/routing/formats/capabilities.ts';
import { leastCachedTokens } from '../../../shared/routing/formats/relayed-cache-marks.ts';
import { rulesOf } from '../../../shared/routing/formats/target-rules/index.ts';

import { literalsOf } from '../../support/installed-types.ts';
import { jsonOf } from '../../support/provider-answers.ts';
import { ask, jsonAnswer } from './fake-send.ts';

interface Reasoning {
  readonly support: boolean | 'unknown';
  readonly efforts?: readonly string[];
  readonly adaptive?: boolean;
  readonly canDisable?: boolean;
  readonly supportsXhighEffort?: boolean;
  readonly betweenTools?: boolean;
}

interface CatalogueEntry {
  readonly capabilities: {
    readonly language: {
      readonly reasoning: Reasoning;
      readonly sampling: { readonly temperature: unknown };
      readonly tools: { readonly forcedChoice?: boolean };
      readonly structuredOutput?: { readonly native: boolean };
      readonly endpoints?: { readonly chat: { readonly functionToolsWithReasoning: boolean } };
    };
  };
}

/** The package's types do not declare the catalogue. */
const { anthropicModelCatalog } = anthropicPackage as unknown as {
  readonly anthropicModelCatalog: Readonly<Record<string, CatalogueEntry>>;
};

const entriesOf = (catalogue: unknown) =>
  Object.entries(catalogue as Readonly<Record<string, CatalogueEntry>>).flatMap(([id, { capabilities }]) =>
    capabilities.language === undefined ? [] : [[id, capabilities.language] as const],
  );

/** Returns the efforts of a model, with `none` if its reasoning can be turned off. */
const effortNames = ({ efforts, least }: ModelReasoning): string[] => [
  ...(least === undefined ? ['none'] : []),
  ...efforts,
];

describe('OpenAI', () => {
  const entries = entriesOf(openaiModelCatalog);

  it('has a catalogue to compare with', () => expect(entries.length).toBeGreaterThan(20));

  it.each(entries)('%s thinks as its package says', (id, { reasoning: { support, efforts }, sampling, endpoints }) => {
    const known = reasoningOf(id) ?? unknownModelReasoning;
    expect(known.kind).toBe(support === true && !/-chat-latest$/.test(id) ? 'effort' : known.kind);
    if (support !== true) expect(known.kind).toBe('none');
    if (efforts !== undefined) expect(effortNames(known)).toEqual(efforts);
    expect(isOpenAiReasoningModel(id)).toBe(sampling.temperature !== true);
    if (endpoints?.chat.functionToolsWithReasoning === false) {
      expect([thinksByDefault(id), thinksWithToolsInResponsesOnly(id)]).toEqual([true, true]);
    }
  });
});

describe('Anthropic', () => {
  const entries = entriesOf(anthropicModelCatalog);

  it('has a catalogue to compare with', () => expect(entries.length).toBeGreaterThan(10));

  it.each(entries)(
    '%s is asked for JSON beside tools in our words if its package would take a tool',
    (id, language) => {
      const candidate = { provider: { kind: undefined }, entry: { upstream_model: id }, model: { id } } as const;
      expect(rulesOf('messages', candidate).keepsTextWithJson).toBe(language.structuredOutput?.native === true);
    },
  );

  it.each(entries)('%s thinks, and is forced, as its package says', (id, { reasoning, tools }) => {
    const known = reasoningOf(id) ?? unknownModelReasoning;
    expect(known.kind).toBe(reasoning.adaptive === true ? 'adaptive' : 'budget');
    expect(known.least === undefined).toBe(reasoning.canDisable);
    expect(known.least === 'between_tools').toBe(reasoning.betweenTools);
    if (known.kind === 'adaptive') expect(known.efforts.includes('xhigh')).toBe(reasoning.supportsXhighEffort);
    if (reasoning.efforts !== undefined) expect(known.efforts).toEqual(reasoning.efforts);
    const candidate = { entry: { upstream_model: id }, model: { id } } as Parameters<typeof supportsForcedTool>[0];
    expect(supportsForcedTool(candidate)).toBe(tools.forcedChoice);
  });
});

describe('the temperature of a call', () => {
  const entries = entriesOf(anthropicModelCatalog).flatMap(([id, { sampling }]) =>
    (['messages', 'converse'] as const).map((api) => [id, api, sampling.temperature === true] as const),
  );

  it.each(entries)(
    'for %s is sent on %s only if its package says that the model takes it',
    async (id, api, takesIt) => {
      const model = api === 'converse' ? `anthropic.${id}-v1:0` : id;
      const answer = jsonAnswer(jsonOf(api, { blocks: [{ text: 'Hello.' }] }));
      for (const effort of [undefined, 'none', 'high']) {
        const body = { temperature: 0.5, max_tokens: 5_000, ...(effort && { reasoning_effort: effort }) };
        const { requests, outcome } = await ask({ api, model, answer, body });
        const words = JSON.stringify(requests[0]?.body);
        const isThinking = /"type":"(adaptive|enabled)"/.test(words);
        const isSent = words.includes('"temperature":0.5');
        expect([effort, isThinking, isSent]).toEqual([effort, effort === 'high', takesIt && !isThinking]);
        const leftOut = outcome.kind === 'json' ? outcome.reachedVia.leftOut : [];
        expect([effort, leftOut.includes('temperature')]).toEqual([effort, !isSent]);
      }
    },
  );
});

describe('the least length that Claude caches', () => {
  it('is listed for each model of its package: a new one has to be looked up', () => {
    const ids = entriesOf(anthropicModelCatalog).map(([id]) => id);
    expect(ids.filter((id) => leastCachedTokens([id])?.isListed !== true)).toEqual([]);
    expect(leastCachedTokens(['claude-opus-9'])).toEqual({ tokens: 1_024, isListed: false });
    expect(leastCachedTokens(['glm-5', 'zai/glm-5'])).toBeUndefined();
  });
});

/** Reads the thinking fields in a request of Google's package, because its catalogue is not exported. */
async function toldByGoogle(model: string, reasoning: (typeof googleEfforts)[number]): Promise<unknown> {
  let sentBody: { readonly generationConfig?: { readonly thinkingConfig?: unknown } } = {};
  const google = createGoogle({
    apiKey: 'none',
    fetch: async (_url, init) => {
      sentBody = JSON.parse(String(init?.body));
      throw new Error('nothing is called');
    },
  });
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi.' }] }];
  try {
    await google(model).doGenerate({ prompt, reasoning });
  } catch {
    // There is no server, so the request fails after its body was written.
  }
  return sentBody.generationConfig?.thinkingConfig;
}

const { google: googleModels = [] } = literalsOf("import type { GoogleProvider } from '@ai-sdk/google';", {
  google: 'Parameters<GoogleProvider>[0]',
});

/** Matches models for speech, models that run elsewhere, and models whose name does not show what they are. */
const notForText = /^(aqa|deep-research|gemma|nano-banana|gemini-(nano-banana|robotics))|-tts|-audio|computer-use/;
/** Models for which the package sends the lowest level, which no other Pro model accepts. */
const guessedByPackage: ReadonlySet<string> = new Set(['gemini-pro-latest', 'gemini-flash-lite-latest']);
const outputMaxTokens = 1_000_000;

/** Returns the table's reasoning in the form of `generateContent`. */
function toldByUs(model: string, effort: (typeof googleEfforts)[number]): unknown {
  const known = reasoningOf(model) ?? unknownModelReasoning;
  const thinking = thinkingOf(effort, outputMaxTokens, known);
  if (thinking?.kind === 'budget') return { thinkingBudget: thinking.tokens };
  if (thinking?.kind === 'off') return { thinkingBudget: 0 };
  return thinking && 'effort' in thinking ? { thinkingLevel: thinking.effort } : undefined;
}

const googleEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

describe('Google', () => {
  const models = googleModels.filter(
    (id) => !notForText.test(id) && !/^gemini-2\.0/.test(id) && !guessedByPackage.has(id),
  );

  it('has names to compare with', () => expect(models.length).toBeGreaterThan(15));

  it.each(models)('%s thinks as its package says', async (model) => {
    for (const effort of googleEfforts) {
      const [package_, ours] = [await toldByGoogle(model, effort), toldByUs(model, effort)] as const;
      const budget = budgetIn(package_);
      // Each has its own table for how much of the output an effort is worth; only the minimum and the maximum come
      // from the model.
      if (budget === undefined || budgetIn(ours) === undefined) expect([effort, ours]).toEqual([effort, package_]);
      else if (effort === 'none' || effort === 'xhigh') expect([effort, budgetIn(ours)]).toEqual([effort, budget]);
    }
  });
});

const budgetIn = (config: unknown): number | undefined =>
  (config as { readonly thinkingBudget?: number } | undefined)?.thinkingBudget;

describe('the shipped list', () => {
  it.each(['openai', 'anthropic', 'google'] as const)(
    'has no reasoning model of %s that gets no reasoning options',
    async (kind) => {
      const names = (await loadModelList()).names(kind);
      const untoldOnes = names.filter(
        (name) => thinks.test(name) && (reasoningOf(name) ?? unknownModelReasoning).kind === 'none',
      );
      expect(untoldOnes).toEqual([]);
    },
  );

  it('has no model whose table is that of another, because its date looks like a version', () => {
    expect(effortNames(reasoningOf('gpt-5-2025-08-07') ?? unknownModelReasoning)).toEqual(
      effortNames(reasoningOf('gpt-5') ?? unknownModelReasoning),
    );
    expect(reasoningOf('gpt-5.1-2025-11-13')).toEqual(reasoningOf('gpt-5.1'));
    expect(reasoningOf('gpt-6-2027-01-01')).toEqual(reasoningOf('gpt-6'));
  });
});

/** Matches GPT-5 and later except its first chat model, the o-series, Claude from 3.7 on, and Gemini from 2.5 on. */
const thinks =
  /^(gpt-(5(?!-chat)|[6-9])|o[1-9]|claude-((opus|sonnet|haiku)-[4-9]|3-7|fable|mythos)|gemini-(2\.5|[3-9]))(?!.*(tts|audio|live|image|search-api|embedding|realtime|transcribe))/;

describe('models that no package lists', () => {
  it.each([
    ['claude-mythos-5', 'adaptive', 'low'],
    ['claude-mythos-5-2', 'adaptive', 'low'],
    ['us.anthropic.claude-mythos-preview', 'adaptive', 'low'],
    ['gpt-6-rosalind', 'effort', 'low'],
    ['gpt-7-nova', 'effort', 'low'],
    ['gpt-5-pro', 'effort', 'high'],
    ['gpt-5.6-pro', 'effort', 'medium'],
    ['gpt-5.3-chat-latest', 'effort', 'medium'],
    ['gpt-5.1-codex', 'effort', 'low'],
    ['claude-opus-6', 'adaptive', undefined],
    ['gemini-5-pro', 'effort', 'low'],
  ] as const)('think by their names: %s by %s, and at the least %s', (model, kind, least) => {
    expect(reasoningOf(model)).toMatchObject({ kind, least });
  });
});

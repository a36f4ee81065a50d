// Refusals of real providers for requests that their formats can express: each rule with the public report, or the
// page, that documents it. Every valid request is checked against all of them.

import { type HistoryRefusal, historyRefusals } from './refused-histories.ts';
import { lacksRequired, looseSchema, optionalIn, unsupportedByClaude } from './refused-schemas.ts';
import { turnRefusals } from './refused-turns.ts';
import { isThinker, knowsNoNone, thinksUnasked, thinksWithToolsElsewhere } from './signature.ts';

/** The fields of any format's request that are read; any other may be present. */
interface FormatBody {
  readonly tools?: readonly Tool[] | null;
  readonly reasoning_effort?: string | null;
  readonly reasoning?: { readonly effort?: string | null } | null;
  readonly thinking?: { readonly type?: string } | null;
  readonly additionalModelRequestFields?: Pick<FormatBody, 'thinking'> | null;
  readonly messages?: readonly { readonly content?: readonly ConverseBlock[] }[];
  readonly toolConfig?: { readonly tools?: readonly { readonly toolSpec?: ToolSpec }[] } | null;
}

interface ToolSpec {
  readonly strict?: boolean | null;
  readonly inputSchema?: { readonly json?: unknown };
}

interface Tool {
  readonly type?: string;
  readonly name?: string;
  readonly strict?: boolean | null;
  readonly parameters?: unknown;
  readonly input_schema?: unknown;
  readonly function?: { readonly name?: string; readonly strict?: boolean | null; readonly parameters?: unknown };
}

interface ConverseBlock {
  readonly text?: string;
  readonly document?: { readonly name?: string };
}

const isOpenAi = /(^|\/)(gpt-|o\d)/;
const hasTools = ({ tools }: FormatBody): boolean => (tools ?? []).length > 0;
const functionsOf = ({ tools }: FormatBody) =>
  (tools ?? []).flatMap((tool) => (tool.function ?? (tool.type === 'function' ? tool : [])) as NonNullable<Tool>);

const toolsElsewhere = (model: string): string =>
  `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;

const unknownEffort = (member: string, effort: string): string =>
  `Unsupported value: '${member}' does not support '${effort}' with this model.`;

interface ClaudesTool {
  readonly strict: boolean | null | undefined;
  readonly schema: unknown;
}

/** Bounds of all strict tools together: https://github.com/strands-agents/harness-sdk/issues/2664. */
function refusedByClaude(tools: readonly ClaudesTool[]): string | undefined {
  const strict = tools.filter((tool) => tool.strict === true);
  if (strict.length > strictToolsMax) return `tools: Too many strict tools. The maximum is ${strictToolsMax}.`;
  for (const [index, tool] of tools.entries()) {
    const words = tool.strict === true ? unsupportedByClaude(tool.schema) : undefined;
    if (words !== undefined) return `tools.${index}.custom: ${words}`;
  }
  const optional = strict.reduce((sum, { schema }) => sum + optionalIn(schema), 0);
  return optional > optionalMax
    ? `Schemas contains too many optional parameters (${optional}), which would make grammar compilation inefficient. Reduce the number of optional parameters in your tool schemas (limit: ${optionalMax}).`
    : undefined;
}

const documentsOf = ({ messages = [] }: FormatBody) =>
  messages.map(({ content }) => (Array.isArray(content) ? (content as readonly ConverseBlock[]) : []));

const strictToolsMax = 20;
const optionalMax = 24;
const documentsMax = 5;

const refusals: readonly HistoryRefusal<FormatBody>[] = [
  {
    formats: ['chat-completions'],
    source: 'https://github.com/BerriAI/litellm/issues/34569',
    why: (body, model) =>
      hasTools(body) && thinksWithToolsElsewhere(model) && effortIn(body, model) !== 'none'
        ? toolsElsewhere(model)
        : undefined,
  },
  {
    formats: ['chat-completions', 'responses'],
    source: 'https://github.com/bolna-ai/bolna/issues/1019',
    why(body, model) {
      const [member, effort] =
        (body.reasoning_effort ?? null) === null
          ? ['reasoning.effort', body.reasoning?.effort]
          : ['reasoning_effort', body.reasoning_effort];
      if (!isThinker(model) || typeof effort !== 'string') return undefined;
      return ['none', 'minimal'].includes(effort) && knowsNoNone(model) ? unknownEffort(member, effort) : undefined;
    },
  },
  {
    formats: ['messages', 'converse'],
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html',
    why: (body, model) =>
      /claude-(fable|mythos)/.test(model) &&
      (body.thinking ?? body.additionalModelRequestFields?.thinking)?.type === 'disabled'
        ? '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        : undefined,
  },
  {
    formats: ['messages'],
    source: 'https://github.com/earendil-works/pi/issues/9953',
    why: ({ tools }) =>
      refusedByClaude((tools ?? []).map((tool) => ({ strict: tool.strict, schema: tool.input_schema }))),
  },
  {
    formats: ['converse'],
    source: 'https://github.com/BerriAI/litellm/pull/39115',
    why: ({ toolConfig }, model) =>
      model.includes('claude')
        ? refusedByClaude(
            (toolConfig?.tools ?? []).flatMap(({ toolSpec }) =>
              toolSpec === undefined ? [] : [{ strict: toolSpec.strict, schema: toolSpec.inputSchema?.json }],
            ),
          )
        : undefined,
  },
  {
    formats: ['chat-completions', 'responses'],
    source: 'https://platform.openai.com/docs/guides/function-calling#strict-mode',
    why(body, model) {
      if (!isOpenAi.test(model)) return undefined;
      const strict = functionsOf(body).filter((one) => one.strict === true);
      for (const { name, parameters } of strict) {
        const fault = looseSchema(parameters) ?? lacksRequired(parameters);
        if (fault !== undefined) return `Invalid schema for function '${name}': In context=(), ${fault}`;
      }
      return undefined;
    },
  },
  {
    formats: ['converse'],
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html',
    why(body) {
      const alone = documentsOf(body).findIndex(
        (blocks) => blocks.some(({ document }) => document) && !blocks.some(({ text }) => text !== undefined),
      );
      return alone < 0
        ? undefined
        : `The content block list at messages.${alone} contains a document block, so it must also contain a text block.`;
    },
  },
  {
    formats: ['converse'],
    source: 'https://github.com/aws-samples/generative-ai-use-cases/issues/1685',
    why(body) {
      const names = documentsOf(body)
        .flat()
        .flatMap(({ document }) => document?.name ?? []);
      return new Set(names).size < names.length ? "Messages can't contain duplicate document names." : undefined;
    },
  },
  {
    formats: ['converse'],
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html',
    why: (body) =>
      documentsOf(body).some((blocks) => blocks.filter(({ document }) => document).length > documentsMax)
        ? `Too many documents in a message. The maximum is ${documentsMax}.`
        : undefined,
  },
];

/** A model that thinks although nothing asks for it counts as asked with an effort. */
const effortIn = ({ reasoning_effort: effort }: FormatBody, model: string): string =>
  effort ?? (thinksUnasked(model) ? 'its own' : 'none');

const conversationRefusals = [...historyRefusals, ...turnRefusals] as readonly HistoryRefusal<FormatBody>[];

/** Returns undefined where its provider would accept it. `model`: from the path or the body. */
export function providerRefusal(format: string, body: unknown, model: string): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  for (const { formats, why } of [...refusals, ...conversationRefusals]) {
    const words = formats.includes(format) ? why(body as FormatBody, model) : undefined;
    if (words !== undefined) return words;
  }
  return undefined;
}

import {
  type Draft,
  definedFields,
  keyVariable,
  type PlaygroundInterface,
  type PlaygroundTurn,
  pythonLines,
} from '../../playground/index.ts';
import { openGeneratedFold } from './stream-fold.ts';

type Body = Readonly<Record<string, unknown>>;

/** Returns the call, whose path determines the model and the delivery. */
const callOf = ({ model, stream, ...body }: Body) => ({
  path: `/v1beta/models/${encodeURIComponent(String(model))}:${stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body,
});

export const playground: PlaygroundInterface = {
  title: 'Gemini',
  path: '/models/{model}:generateContent',
  callOf,
  hasStreams: true,
  hasTurns: true,
  body: ({ model, system, turns, temperature, outputTokensMax, tools, more, streams }: Draft) => {
    const generationConfig = definedFields({ temperature, maxOutputTokens: outputTokensMax });
    return {
      ...definedFields({
        model,
        systemInstruction: system === '' ? undefined : { parts: [{ text: system }] },
        contents: turns.map(contentOf),
        tools:
          tools.length === 0
            ? undefined
            : [
                {
                  functionDeclarations: tools.map(({ parameters, ...tool }) => ({
                    ...tool,
                    parametersJsonSchema: parameters,
                  })),
                },
              ],
        generationConfig: Object.keys(generationConfig).length === 0 ? undefined : generationConfig,
        stream: streams || undefined,
      }),
      ...more,
    };
  },
  readAnswer: ({ candidates = [] }) => {
    const parts = ((candidates as readonly Candidate[])[0]?.content?.parts ?? []) as readonly Part[];
    return {
      text: parts.map(({ text = '', thought }) => (thought === true ? '' : text)).join(''),
      images: parts.flatMap(({ inlineData }) =>
        inlineData?.mimeType?.startsWith('image/') === true
          ? [`data:${inlineData.mimeType};base64,${inlineData.data}`]
          : [],
      ),
      calls: parts.flatMap(({ functionCall }) =>
        functionCall === undefined
          ? []
          : [
              {
                id: functionCall.id ?? functionCall.name,
                name: functionCall.name,
                arguments: JSON.stringify(functionCall.args ?? {}),
              },
            ],
      ),
    };
  },
  openFold: openGeneratedFold,
  python,
};

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly inlineData?: { readonly mimeType?: string; readonly data?: string };
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: object };
}

interface Candidate {
  readonly content?: { readonly parts?: readonly Part[] };
}

/** Returns the content of a turn. A result needs both the id and the name of its call. */
function contentOf(turn: PlaygroundTurn, at: number, turns: readonly PlaygroundTurn[]): object {
  if (turn.role === 'user') return { role: 'user', parts: [...turn.images.map(imageOf), { text: turn.text }] };
  if (turn.role === 'tool') {
    const names = new Map(
      turns
        .slice(0, at)
        .flatMap((one) => (one.role === 'assistant' ? one.calls.map(({ id, name }) => [id, name] as const) : [])),
    );
    const parts = turn.results.map(({ id, text }) => ({
      functionResponse: { id, name: names.get(id) ?? id, response: { output: text } },
    }));
    return { role: 'user', parts };
  }
  const calls = turn.calls.map(({ id, name, arguments: written }) => ({
    functionCall: { id, name, args: JSON.parse(written || '{}') as unknown },
  }));
  return { role: 'model', parts: [...(turn.text === '' ? [] : [{ text: turn.text }]), ...calls] };
}

function imageOf(dataUrl: string): object {
  const [, mimeType = '', data = ''] = /^data:([^;,]*);base64,(.*)$/s.exec(dataUrl) ?? [];
  return { inlineData: { mimeType, data } };
}

/** Fields besides the contents that the SDK knows (google-genai 1.x, `GenerateContentConfig`). */
const configFields = new Set(['systemInstruction', 'tools', 'toolConfig', 'safetySettings', 'cachedContent', 'labels']);

/**
 * Writes the call for Python. The SDK has one argument for all fields other than the contents, and refuses fields in it
 * that it does not know.
 */
function python(origin: string, { model, contents, stream, generationConfig, ...beside }: Body): string {
  const entries = Object.entries(beside);
  const unknown = Object.fromEntries(entries.filter(([name]) => !configFields.has(name)));
  const config = {
    ...Object.fromEntries(entries.filter(([name]) => configFields.has(name))),
    ...(generationConfig as object | undefined),
    ...(Object.keys(unknown).length === 0 ? {} : { httpOptions: { extraBody: unknown } }),
  };
  const fields = { model, contents, ...(Object.keys(config).length === 0 ? {} : { config }) };
  return [
    'import os',
    'from google import genai',
    '',
    `client = genai.Client(api_key=os.environ["${keyVariable}"], vertexai=False, http_options={"base_url": "${origin}"})`,
    `answer = client.models.generate_content${stream === true ? '_stream' : ''}(`,
    ...pythonLines(fields, Object.keys(fields)),
    ')',
    ...(stream === true
      ? ['for chunk in answer:', '    print(chunk.text or "", end="", flush=True)']
      : ['print(answer.text)', 'print(answer.function_calls)']),
  ].join('\n');
}

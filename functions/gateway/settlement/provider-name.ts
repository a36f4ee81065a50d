// The names that OpenTelemetry's conventions for generative AI give to well-known providers, by where a provider is called.

/** By the end of a host name. In this order: the first that fits. */
const namesOfHosts: readonly (readonly [host: RegExp, name: string])[] = [
  [/(^|\.)api\.openai\.com$/, 'openai'],
  [/\.openai\.azure\.com$|\.cognitiveservices\.azure\.com$/, 'azure.ai.openai'],
  [/\.services\.ai\.azure\.com$|\.models\.ai\.azure\.com$/, 'azure.ai.inference'],
  [/(^|\.)api\.anthropic\.com$/, 'anthropic'],
  [/^bedrock(-runtime|-mantle)?[.-].*(\.amazonaws\.com|\.api\.aws)(\.cn)?$/, 'aws.bedrock'],
  [/^generativelanguage\.googleapis\.com$/, 'gcp.gemini'],
  [/(^|[.-])aiplatform\.googleapis\.com$/, 'gcp.vertex_ai'],
  [/(^|\.)api\.groq\.com$/, 'groq'],
  [/(^|\.)mistral\.ai$/, 'mistral_ai'],
  [/(^|\.)api\.deepseek\.com$/, 'deepseek'],
  [/(^|\.)api\.x\.ai$/, 'x_ai'],
  [/(^|\.)api\.cohere\.(com|ai)$/, 'cohere'],
  [/(^|\.)api\.perplexity\.ai$/, 'perplexity'],
  [/\.ml\.cloud\.ibm\.com$/, 'ibm.watsonx.ai'],
];

/** Undefined: the conventions have none for it. */
export function wellKnownName(baseUrl: string): string | undefined {
  const { hostname } = new URL(baseUrl);
  return namesOfHosts.find(([host]) => host.test(hostname))?.[1];
}

import { expect, it } from '#jest';
import { wellKnownName } from '../../../functions/gateway/settlement/provider-name.ts';

it.each([
  ['https://api.openai.com/v1', 'openai'],
  ['https://eu.api.openai.com/v1', 'openai'],
  ['https://acme.openai.azure.com/openai/v1', 'azure.ai.openai'],
  ['https://acme.services.ai.azure.com/models', 'azure.ai.inference'],
  ['https://api.anthropic.com/v1', 'anthropic'],
  ['https://bedrock-runtime.eu-west-1.amazonaws.com', 'aws.bedrock'],
  ['https://bedrock-mantle.us-east-1.api.aws/anthropic/v1', 'aws.bedrock'],
  ['https://generativelanguage.googleapis.com/v1beta', 'gcp.gemini'],
  ['https://europe-west1-aiplatform.googleapis.com/v1', 'gcp.vertex_ai'],
  ['https://aiplatform.googleapis.com/v1', 'gcp.vertex_ai'],
  ['https://api.groq.com/openai/v1', 'groq'],
  ['https://api.mistral.ai/v1', 'mistral_ai'],
  ['https://api.deepseek.com', 'deepseek'],
  ['https://api.x.ai/v1', 'x_ai'],
  ['https://api.cohere.com/compatibility/v1', 'cohere'],
  ['https://api.perplexity.ai', 'perplexity'],
  ['https://eu-de.ml.cloud.ibm.com/ml', 'ibm.watsonx.ai'],
  ['https://openrouter.ai/api/v1', undefined],
  ['http://127.0.0.1:11434/v1', undefined],
  ['https://api.openai.com.evil.example/v1', undefined],
])('the conventions name %s %s', (baseUrl, name) => {
  expect(wellKnownName(baseUrl)).toBe(name);
});

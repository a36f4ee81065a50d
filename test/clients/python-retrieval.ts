// Retrieval with LangChain and LlamaIndex for Python.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { runCommand } from '../../infra/verify/verify-step.ts';
import { baseUrlOf } from './client-gateway.ts';
import { virtualEnvironment } from './python-environment.ts';
import {
  checkRetrieval,
  passages,
  retrievalQuestion,
  type SeenRetrieval,
  startRetrievalGateway,
  type VectorSourceName,
  vectorSourceNames,
} from './retrieval.ts';

/** Frameworks, each with the file of requirements that contains it. */
const frameworks = { langchain: 'requirements-openai-3.txt', 'llama-index': 'requirements-openai-2.txt' };

type SeenBySource<T> = Readonly<Record<VectorSourceName, T>>;

export async function runRetrieval(): Promise<string> {
  const gateway = await startRetrievalGateway();
  try {
    const request = { key: gateway.key, sources: vectorSourceNames, passages, question: retrievalQuestion };
    const env = {
      GW_CLIENTS: JSON.stringify({ base_url: baseUrlOf(gateway, '/openai/v1'), ...request }),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const see = async <T>(name: string, requirements: string): Promise<SeenBySource<T>> => {
      const program = join(import.meta.dirname, 'python/check_retrieval.py');
      const output = await runCommand(await virtualEnvironment(requirements), [program, name], { env });
      return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as SeenBySource<T>;
    };
    for (const [name, requirements] of Object.entries(frameworks)) {
      gateway.simulator.clear();
      const results = await see<SeenRetrieval>(name, requirements);
      for (const source of vectorSourceNames) await checkRetrieval(gateway, source, results[source]);
    }
    gateway.simulator.clear();
    const { acme, ...translations } = await see<string>('langchain, defaults', frameworks.langchain);
    assert.equal(acme, `${passages.length} vectors`, 'numbers of tokens are relayed');
    for (const text of Object.values(translations)) assert.match(text, /has no words for token_ids \(input\)/);
    assert.ok(gateway.simulator.calls.every(({ provider }) => provider === 'acme'));
    return `${Object.keys(frameworks).join(', ')} at ${vectorSourceNames.join(', ')}`;
  } finally {
    await gateway.stop();
  }
}

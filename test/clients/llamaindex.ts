// `npm run test:llamaindex`: retrieval by LlamaIndex for JS, from npm under .cache/ (75 MB), through a gateway to
// simulated providers. Prints one line if it is skipped because the packages are not available.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Skipped } from '../../infra/verify/verify-step.ts';
import useOneFolderForTheRun from '../support/temporary-folder.ts';
import { baseUrlOf } from './client-gateway.ts';
import { installPackages } from './npm-packages.ts';
import { checkRetrieval, passages, retrievalQuestion, startRetrievalGateway, vectorSourceNames } from './retrieval.ts';

const versions = { llamaindex: '0.12.1', '@llamaindex/openai': '0.4.22' };

interface Connection {
  readonly model: string;
  readonly apiKey: string;
  readonly baseURL: string;
}

/** The parts of the packages that this script uses, by the packages' names. */
interface Embedding {
  getTextEmbeddings(texts: readonly string[]): Promise<number[][]>;
}
interface QueryEngine {
  query(request: { readonly query: string }): Promise<{
    readonly sourceNodes?: readonly { readonly node: { getContent(): string } }[];
    toString(): string;
  }>;
}
interface LlamaIndex {
  readonly Document: new (init: { readonly text: string }) => object;
  readonly Settings: { llm: object; embedModel: Embedding };
  readonly VectorStoreIndex: {
    fromDocuments(documents: readonly object[]): Promise<{
      asQueryEngine(options: { readonly similarityTopK: number }): QueryEngine;
    }>;
  };
}
interface LlamaIndexOpenAi {
  readonly OpenAI: new (init: Connection) => object;
  readonly OpenAIEmbedding: new (init: Connection) => Embedding;
}

async function runRetrieval(): Promise<void> {
  useOneFolderForTheRun();
  const load = createRequire(join(await installPackages('llamaindex', versions), 'package.json'));
  const { Document, Settings, VectorStoreIndex } = load('llamaindex') as LlamaIndex;
  const { OpenAI, OpenAIEmbedding } = load('@llamaindex/openai') as LlamaIndexOpenAi;
  const gateway = await startRetrievalGateway();
  try {
    const connection = { apiKey: gateway.key, baseURL: baseUrlOf(gateway, '/openai/v1') };
    for (const name of vectorSourceNames) {
      Settings.llm = new OpenAI({ model: `${name}/chat`, ...connection });
      Settings.embedModel = new OpenAIEmbedding({ model: `${name}/vectors`, ...connection });
      const vectors = await Settings.embedModel.getTextEmbeddings(passages);
      const index = await VectorStoreIndex.fromDocuments(passages.map((text) => new Document({ text })));
      const answer = await index.asQueryEngine({ similarityTopK: 1 }).query({ query: retrievalQuestion });
      await checkRetrieval(gateway, name, {
        dimensions: vectors.map(({ length }) => length),
        found: answer.sourceNodes?.[0]?.node.getContent() ?? '',
        answer: String(answer),
      });
    }
    process.stdout.write(`ok       LlamaIndex for JS at ${vectorSourceNames.join(', ')}\n`);
  } finally {
    await gateway.stop();
  }
}

await runRetrieval().catch((error: unknown) => {
  const isSkipped = error instanceof Skipped;
  if (!isSkipped) process.exitCode = 1;
  process.stdout.write(`${isSkipped ? 'skipped' : 'FAILS  '}  LlamaIndex for JS: ${(error as Error).message}\n`);
});

// Retrieval with LangChain.js, whose store is part of its core. LlamaIndex and the frameworks for Python have scripts.
import { FakeVectorStore } from '@langchain/core/utils/testing';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { afterAll, beforeAll, beforeEach, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import type { Harness } from '../support/harness.ts';
import { baseUrlOf } from './client-gateway.ts';
import { checkRetrieval, passages, retrievalQuestion, startRetrievalGateway, vectorSourceNames } from './retrieval.ts';

let gateway: Harness;
beforeAll(async () => {
  gateway = await startRetrievalGateway();
});
beforeEach(() => gateway.simulator.clear());
afterAll(() => gateway.stop());

it.each(vectorSourceNames)('LangChain.js finds a passage by vectors of %s, and answers with it', async (name) => {
  const before = (await gateway.records()).length;
  const connection = { apiKey: gateway.key, configuration: { baseURL: baseUrlOf(gateway, '/openai/v1') } };
  const embeddings = new OpenAIEmbeddings({ model: `${name}/vectors`, ...connection });
  const vectors = await embeddings.embedDocuments(passages);
  const store = await FakeVectorStore.fromTexts(
    passages,
    passages.map(() => ({})),
    embeddings,
  );
  const [found] = await store.asRetriever(1).invoke(retrievalQuestion);
  const chat = new ChatOpenAI({ model: `${name}/chat`, ...connection });
  const { content } = await chat.invoke(`${found?.pageContent}\n\n${retrievalQuestion}`);
  const results = {
    dimensions: vectors.map(({ length }) => length),
    found: found?.pageContent ?? '',
    answer: String(content),
  };
  await checkRetrieval(gateway, name, results);
  await expectBalancedBooks(gateway);
  expect(await gateway.records()).toHaveLength(before + 4);
});

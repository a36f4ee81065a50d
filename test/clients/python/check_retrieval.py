"""Retrieval by one framework, at each source of vectors: prints what it saw as JSON, on the last line of standard error.

`npm run test:python-clients` compares it with what is expected.
"""

import json
import os
import sys


def langchain(base_url, key, passages, question):
    from langchain_core.vectorstores import InMemoryVectorStore
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings

    def run(source):
        # As the README shows it: by default the texts are sent as the numbers of their tokens.
        embeddings = OpenAIEmbeddings(
            model=f"{source}/vectors", base_url=base_url, api_key=key, check_embedding_ctx_length=False
        )
        vectors = embeddings.embed_documents(passages)
        store = InMemoryVectorStore.from_texts(passages, embeddings)
        [found] = store.as_retriever(search_kwargs={"k": 1}).invoke(question)
        chat = ChatOpenAI(model=f"{source}/chat", base_url=base_url, api_key=key)
        answer = chat.invoke(f"{found.page_content}\n\n{question}").content
        return {"dimensions": [len(one) for one in vectors], "found": found.page_content, "answer": answer}

    return run


def langchain_defaults(base_url, key, passages, _question):
    """What a user reads who sets nothing."""
    import tiktoken
    from langchain_openai import OpenAIEmbeddings

    # The vocabulary of OpenAI's models lies in the internet; bytes do as well.
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=r".|\n", mergeable_ranks=ranks, special_tokens={})
    tiktoken.get_encoding = lambda _name: encoding

    def run(source):
        embeddings = OpenAIEmbeddings(model=f"{source}/vectors", base_url=base_url, api_key=key, max_retries=0)
        try:
            return f"{len(embeddings.embed_documents(passages))} vectors"
        except Exception as error:  # What a user reads of it is the point.
            return str(error)

    return run


def llama_index(base_url, key, passages, question):
    from llama_index.core import Document, VectorStoreIndex
    from llama_index.embeddings.openai_like import OpenAILikeEmbedding
    from llama_index.llms.openai_like import OpenAILike

    def run(source):
        embeddings = OpenAILikeEmbedding(model_name=f"{source}/vectors", api_base=base_url, api_key=key)
        vectors = embeddings.get_text_embedding_batch(passages)
        documents = [Document(text=passage) for passage in passages]
        index = VectorStoreIndex.from_documents(documents, embed_model=embeddings)
        llm = OpenAILike(model=f"{source}/chat", api_base=base_url, api_key=key, is_chat_model=True)
        answer = index.as_query_engine(llm=llm, similarity_top_k=1).query(question)
        found = answer.source_nodes[0].text
        return {"dimensions": [len(one) for one in vectors], "found": found, "answer": str(answer)}

    return run


FRAMEWORKS = {"langchain": langchain, "llama-index": llama_index, "langchain, defaults": langchain_defaults}


def main():
    asked = json.loads(os.environ["GW_CLIENTS"])
    run = FRAMEWORKS[sys.argv[1]](asked["base_url"], asked["key"], asked["passages"], asked["question"])
    # One line of its own: libraries print what they like.
    print(f"\n{json.dumps({source: run(source) for source in asked['sources']})}", file=sys.stderr)


main()

"""Calls the interfaces beyond text by OpenAI's client, and prints what it got as JSON, on the last line of standard
error.

`npm run test:python-clients` compares it with what is expected.
"""

import json
import os
import sys

from openai import NotFoundError, OpenAI

MODEL = "acme/echo"


def stored(client):
    """A stored response is read, then deleted, then unknown."""
    made = client.responses.create(model=MODEL, input="Hello", store=True)
    read = client.responses.retrieve(made.id)
    client.responses.delete(made.id)
    try:
        client.responses.retrieve(made.id)
        gone = False
    except NotFoundError:
        gone = True
    return {"same": read.id == made.id and read.output_text == made.output_text, "text": made.output_text, "gone": gone}


def main():
    asked = json.loads(os.environ["GW_CLIENTS"])
    client = OpenAI(base_url=asked["base_url"], api_key=asked["key"], max_retries=0)
    speech = client.audio.speech.create(model=MODEL, voice="alloy", input="Hello", response_format="wav").read()
    moderated = client.moderations.create(model=MODEL, input=["Hello", "World"])
    images = client.images.generate(model=MODEL, prompt="A cat", n=2)
    vectors = client.embeddings.create(model=MODEL, input=["Hello", "World"])
    seen = {
        "moderations": [result.flagged for result in moderated.results],
        "embeddings": [len(one.embedding) for one in vectors.data],
        "images": [image.b64_json[:8] for image in images.data],
        "speech": speech[:4].decode(),
        "transcription": client.audio.transcriptions.create(model=MODEL, file=("speech.wav", speech)).text,
        "stored": stored(client),
    }
    # One line of its own: libraries print what they like.
    print(f"\n{json.dumps(seen)}", file=sys.stderr)


main()

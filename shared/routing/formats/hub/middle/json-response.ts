/** Decoded in a few milliseconds. */
const pieceMaxBytes = 2 * 1024 * 1024;

/** A whole answer for a package, which decodes piece by piece, and parses what it has behind the last one. */
export const jsonResponse = (text: string, nextStep: () => Promise<void>): Response =>
  new Response(inPieces(Buffer.from(text), nextStep), { headers: { 'content-type': 'application/json' } });

function inPieces(bytes: Uint8Array, nextStep: () => Promise<void>): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await nextStep();
      if (at >= bytes.length) {
        controller.close();
        return;
      }
      controller.enqueue(bytes.subarray(at, at + pieceMaxBytes));
      at += pieceMaxBytes;
    },
  });
}

// Preloaded into the Node workers of MiniStack: parts of Lambda's runtime that they lack. Handlers in `.cjs` files,
// `awslambda` for streaming, and the AWS SDK for modules that import it without bundling it.
'use strict';
const Module = require('node:module');
const { PassThrough } = require('node:stream');
const { pathToFileURL } = require('node:url');

Module._extensions['.cjs'] = Module._extensions['.js'];

const requireFromProject = Module.createRequire(__filename);
/** Resolving a module from here passes through the hook again. */
let isResolvingHere = false;
Module.registerHooks({
  resolve(specifier, context, next) {
    if (isResolvingHere || !specifier.startsWith('@aws-sdk/')) return next(specifier, context);
    isResolvingHere = true;
    try {
      return { url: pathToFileURL(requireFromProject.resolve(specifier)).href, shortCircuit: true };
    } finally {
      isResolvingHere = false;
    }
  },
});

globalThis.awslambda = {
  /** The worker accepts a returned text: status and headers, eight NUL bytes, the body. */
  streamifyResponse: (handler) => async (event, context) => {
    const stream = new PassThrough();
    const chunks = [];
    stream.on('data', (chunk) => chunks.push(chunk));
    const ended = new Promise((resolve) => stream.once('end', resolve));
    await handler(event, stream, context);
    await ended;
    return Buffer.concat(chunks).toString('utf8');
  },
  HttpResponseStream: {
    from(stream, prelude) {
      stream.write(`${JSON.stringify(prelude)}${'\0'.repeat(8)}`);
      return stream;
    },
  },
};

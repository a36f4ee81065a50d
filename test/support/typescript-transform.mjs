// Strips types for jest with the same esbuild that makes the bundles; type errors are the compiler's business.
import { createHash } from 'node:crypto';
import { transformSync, version } from 'esbuild';

const options = { loader: 'ts', format: 'esm', target: 'node24', sourcemap: 'inline' };

export default {
  getCacheKey: (source, path) => createHash('sha256').update(`${version}\0${path}\0${source}`).digest('hex'),
  process: (source, path) => ({ code: transformSync(source, { ...options, sourcefile: path }).code }),
};
